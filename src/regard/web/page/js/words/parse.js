/** Files of vectors and of what is known of them, read line by line within bounds. Nothing of them leaves the browser. */

/** @typedef {import("./vectors.js").Column} Column */
/** @typedef {{kind: "vectors", words: string[] | null, raw: Float32Array, width: number, lines: number[], read: number, notes: string[]}} Rows
 * `words` is null where a file has numbers alone; `lines` are those that were kept, of as many as were `read` */
/** @typedef {{kind: "metadata", labels: string[], columns: Column[]}} Metadata */

const ROWS = 100_000;
const NUMBERS = 20_000_000;
const WIDTH = 4096;
const LINE = 1 << 20; // letters
const CELL = 200; // letters
const COLUMNS = 50;

/** @param {File} file @param {(read: number) => void} [tell] rows so far @returns {Promise<Rows | Metadata>} */
export async function parseFile(file, tell = () => {}) {
  const name = file.name.slice(0, 80);
  const lines = linesOf(file, name);
  const first = [];
  for await (const line of lines) {
    first.push(line);
    if (first.length === 2) break;
  }
  if (!first.some((line) => line.trim()))
    throw new Error(`${name} is empty; give a word and its numbers in each line.`);
  const split = separator(first[0] ?? "");
  return isVectors(first.map(split)) ? rowsOf(file, name, tell) : metadataOf(file, name);
}

/** @param {File} file @param {string} name @returns {AsyncGenerator<string>} */
async function* linesOf(file, name) {
  const packed = name.endsWith(".gz");
  const bytes = packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (value?.includes("\0"))
        throw new Error(`${name} is no text; save the vectors as text, one word and its numbers a line.`);
      const parts = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (parts.pop() ?? "");
      if (rest.length > LINE)
        throw new Error(`${name} has a line of more than ${LINE.toLocaleString("en")} letters; give one row a line.`);
      for (const line of parts) yield line.replace(/\r$/, "");
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** @param {string} line @returns {(line: string) => string[]} */
function separator(line) {
  if (line.includes("\t")) return (text) => text.split("\t");
  const fields = line.trim().split(/\s+/);
  if (fields.length === 1 && line.includes(",")) return (text) => text.split(",");
  return (text) => text.trim().split(/\s+/);
}

/** @param {string} field */
const numeric = (field) => field.trim() !== "" && !Number.isNaN(Number(field));
/** NaN and infinity are meant as numbers, and are refused as such. @param {string} field */
const meant = (field) => numeric(field) || /^[+-]?(nan|inf(inity)?)$/i.test(field.trim());

/** A row of vectors is numbers alone, or a word and two numbers or more. @param {string[][]} rows */
function isVectors(rows) {
  const last = rows.at(-1) ?? [];
  const numbers = rows.every((row) => row.slice(1).every((field) => field.trim() === "" || meant(field)));
  return numbers && last.length > 1 && (last.length > 2 || meant(last[0] ?? ""));
}

/** @param {File} file @param {string} name @param {(read: number) => void} tell @returns {Promise<Rows>} */
async function rowsOf(file, name, tell) {
  const found = new Table(name);
  let number = 0;
  let ended = true;
  for await (const line of linesOf(file, name)) {
    number += 1;
    if (!line.trim() || found.isHeader(line, number)) continue;
    if (found.full) {
      ended = false;
      break;
    }
    found.add(line, number);
    if (number % 2000 === 0) tell(number);
  }
  return found.done(ended);
}

class Table {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.width = 0;
    this.raw = new Float32Array(1 << 16);
    /** @type {string[]} */
    this.words = [];
    /** @type {Map<string, number>} */
    this.seen = new Map();
    /** @type {number[]} */
    this.lines = [];
    /** @type {string[]} */
    this.twice = [];
    this.read = 0;
    this.named = true;
    this.split = separator("");
  }

  get full() {
    return this.read >= ROWS || (this.lines.length + 1) * this.width > NUMBERS;
  }

  /** word2vec begins with how many rows and numbers there are. @param {string} line @param {number} number */
  isHeader(line, number) {
    return number === 1 && /^\s*\d+ \d+\s*$/.test(line);
  }

  /** @param {string} line @param {number} number */
  add(line, number) {
    if (!this.width) this.begin(line, number);
    const fields = this.split(line);
    while (fields.length > 1 && fields.at(-1)?.trim() === "") fields.pop(); // some tools end lines with a space
    const word = this.named ? fields.slice(0, fields.length - this.width).join(" ") : "";
    const values = fields.slice(-this.width);
    const short = this.named ? fields.length <= this.width : fields.length !== this.width;
    if (short || (this.named && fields.length > this.width + 1 && numeric(fields[1] ?? ""))) {
      const count = this.named ? fields.length - 1 : fields.length;
      throw new Error(
        `Line ${number} of ${this.name} has ${count} numbers where the first has ${this.width}; mend it or leave it out.`,
      );
    }
    this.read += 1;
    if (this.named && this.seen.has(word)) return void this.twice.push(word);
    this.put(values, number);
    this.words.push(word.slice(0, CELL));
    this.seen.set(word, this.read);
    this.lines.push(this.read - 1);
  }

  /** @param {string} line @param {number} number */
  begin(line, number) {
    this.split = separator(line);
    const fields = this.split(line).filter((field) => field.trim() !== "");
    this.named = !meant(fields[0] ?? "");
    this.width = fields.length - (this.named ? 1 : 0);
    if (this.width < 2)
      throw new Error(`Line ${number} of ${this.name} has ${this.width} numbers; vectors have 2 or more.`);
    if (this.width > WIDTH) throw new Error(`${this.name} has ${this.width} numbers a row; up to ${WIDTH} are read.`);
  }

  /** @param {string[]} values @param {number} number */
  put(values, number) {
    const at = this.lines.length * this.width;
    if (at + this.width > this.raw.length) {
      const larger = new Float32Array(Math.max(2 * this.raw.length, at + this.width));
      larger.set(this.raw);
      this.raw = larger;
    }
    values.forEach((value, j) => {
      const read = Math.fround(Number(value));
      if (!Number.isFinite(read) || value.trim() === "") {
        throw new Error(
          `Line ${number} of ${this.name} has “${value.slice(0, 30)}”, which is no finite number; mend it or leave the line out.`,
        );
      }
      this.raw[at + j] = read;
    });
  }

  /** @param {boolean} ended @returns {Rows} */
  done(ended) {
    if (!this.lines.length) throw new Error(`${this.name} holds no vectors; give a word and its numbers in each line.`);
    if (this.lines.length < 3)
      throw new Error(`${this.name} holds ${this.lines.length} vectors, which make no map; give 3 or more.`);
    const notes = [];
    if (!ended)
      notes.push(
        `Only the first ${this.read.toLocaleString("en")} rows of ${this.name} were read, as many as a page can hold.`,
      );
    if (this.twice.length)
      notes.push(
        `“${this.twice[0]}”${this.twice.length > 1 ? ` and ${this.twice.length - 1} more` : ""} stood twice; the first was kept.`,
      );
    const { words, named, width, lines, read } = this;
    return {
      kind: "vectors",
      words: named ? words : null,
      raw: this.raw.slice(0, lines.length * width),
      width,
      lines,
      read,
      notes,
    };
  }
}

/** One column is labels; of several the first line names them. @param {File} file @param {string} name @returns {Promise<Metadata>} */
async function metadataOf(file, name) {
  /** @type {string[][]} */
  const rows = [];
  for await (const line of linesOf(file, name)) {
    if (!line) continue;
    if (rows.length > ROWS) break;
    rows.push(
      line
        .split("\t")
        .slice(0, COLUMNS)
        .map((cell) => cell.slice(0, CELL)),
    );
  }
  const wide = rows[0]?.length ?? 0;
  if (wide === 1) return { kind: "metadata", labels: rows.map(([cell = ""]) => cell), columns: [] };
  const wrong = rows.findIndex((row) => row.length !== wide);
  if (wrong >= 0)
    throw new Error(
      `Line ${wrong + 1} of ${name} has ${rows[wrong]?.length} cells where the first has ${wide}; mend it.`,
    );
  const [names = [], ...cells] = rows;
  const columns = names.map((each, i) =>
    column(
      each || `column ${i + 1}`,
      cells.map((row) => row[i] ?? ""),
    ),
  );
  const label = Math.max(
    0,
    names.findIndex((each) => /^(label|word|name|title|token)$/i.test(each)),
  );
  return { kind: "metadata", labels: cells.map((row) => row[label] ?? ""), columns };
}

/** @param {string} name @param {string[]} values @returns {Column} */
function column(name, values) {
  return { name, values: values.every(numeric) ? values.map(Number) : values };
}

/** Vectors and what is known of them, together. @param {string} name @param {Rows} rows @param {Metadata | null} metadata
 * @returns {import("./vectors.js").Given} */
export function join(name, rows, metadata) {
  const count = rows.lines.length;
  const plain = rows.words ?? Array.from({ length: count }, (_, i) => `row ${i + 1}`);
  const given = { name, raw: rows.raw, width: rows.width, own: true };
  if (!metadata) return { ...given, words: plain };
  if (metadata.labels.length !== rows.read) {
    throw new Error(
      `There are ${metadata.labels.length.toLocaleString("en")} rows of metadata and ${rows.read.toLocaleString("en")} vectors; give one for each.`,
    );
  }
  const kept = (/** @type {(string | number)[]} */ values) => rows.lines.map((line) => values[line] ?? "");
  const columns = metadata.columns.map(({ name: each, values }) => ({ name: each, values: kept(values) }));
  return { ...given, words: rows.words ?? kept(metadata.labels).map(String), columns };
}
