/** Which heads are looked at: one, several in their colours, or the mean of any of them. */

/** @typedef {import("./answer.js").Answer} Answer */
/** @typedef {import("./answer.js").Attention} Attention */
/** @typedef {{name: string, head: number}} Head */
/** @typedef {{attention: Attention, heads: Head[], mean: boolean}} Selection `attention` is that of the first head */

export const COLOURS = 16; // heads that can be told apart; more are shown as their mean

/** What the link wishes for, or a good one to begin with; heads of other axes than the first cannot lie over it.
 * @param {Answer} now @param {string} look @param {boolean} mean @returns {Selection | null} */
export function chosen(now, look, mean) {
  const parts = look.split(",").filter(Boolean);
  const wanted = parts.flatMap((part) => headsOf(now, part));
  const heads = wanted.length ? wanted : opening(now);
  const first = now.attentions.find((each) => each.name === heads[0]?.name);
  if (!first) return null;
  const along = new Set(
    now.attentions.filter((each) => each.rows === first.rows && each.columns === first.columns).map(({ name }) => name),
  );
  const fitting = heads.filter(({ name }) => along.has(name));
  const whole = !wanted.length || parts.some((part) => part.endsWith(":mean"));
  return { attention: first, heads: fitting, mean: fitting.length > 1 && (mean || whole || fitting.length > COLOURS) };
}

/** @param {Answer} now @param {string} part `name:3` or `name:mean` @returns {Head[]} */
function headsOf(now, part) {
  const [, name, head] = part.match(/^(.*):(mean|\d+)$/) ?? [];
  const found = now.attentions.find((each) => each.name === name);
  if (!found) return [];
  return Number(head) < found.heads ? [{ name: found.name, head: Number(head) }] : every(found);
}

/** @param {Attention} attention @returns {Head[]} */
export const every = ({ name, heads }) => Array.from({ length: heads }, (_, head) => ({ name, head }));

/** The best head if there is a truth to compare with; else all of the last attention that looks across; of a file the first. @param {Answer} now @returns {Head[]} */
function opening(now) {
  const best = bestHead(now);
  if (best) return [best];
  const last = now.attentions.filter((each) => each.kind === "cross").at(-1) ?? now.attentions.at(-1);
  const first = now.task === "file" ? now.attentions[0] : last;
  return first ? every(first) : [];
}

/** The head that errs least on this sentence. @param {Answer} now @returns {(Head & {error: number}) | null} */
export function bestHead(now) {
  const errors = /** @type {Record<string, number[]>} */ (now.output?.gold?.error ?? {});
  const all = Object.entries(errors).flatMap(([name, some]) => some.map((error, head) => ({ name, head, error })));
  return all.reduce(
    (best, each) => (!best || each.error < best.error ? each : best),
    /** @type {(Head & {error: number}) | null} */ (null),
  );
}

/** As the link has it: all heads of an attention as their mean are `name:mean`. @param {Head[]} heads @param {Answer} now @param {boolean} mean */
export function writtenHeads(heads, now, mean) {
  const [first] = heads;
  const attention = now.attentions.find((each) => each.name === first?.name);
  const whole =
    attention && mean && heads.length === attention.heads && heads.every(({ name }) => name === attention.name);
  if (whole && attention.heads > 1) return `${attention.name}:mean`;
  return heads.map(({ name, head }) => `${name}:${head}`).join(",");
}

/** Those that are in one of both. @param {Head[]} before @param {Head[]} some @returns {Head[]} */
export function toggled(before, some) {
  const same = (/** @type {Head} */ a) => (/** @type {Head} */ b) => a.name === b.name && a.head === b.head;
  const all = some.every((each) => before.some(same(each)));
  const rest = before.filter((each) => !some.some(same(each)));
  const next = all ? rest : [...rest, ...some];
  return next.length ? next : before;
}

/** In words. @param {Selection} selection */
export function said({ attention, heads, mean }) {
  const [first] = heads;
  const layers = new Set(heads.map(({ name }) => name)).size;
  if (heads.length === 1) return `layer ${attention.layer + 1}, head ${(first?.head ?? 0) + 1}`;
  const how = mean ? "mean of " : "";
  if (layers > 1) return `${how}${heads.length} heads of ${layers} layers`;
  const all = heads.length === attention.heads;
  const which = all ? `all ${heads.length} heads` : `heads ${heads.map(({ head }) => head + 1).join(", ")}`;
  return `layer ${attention.layer + 1}, ${how}${which}`;
}
