/** All heads as small pictures of where they look, a layer a row; each opens, and can be switched off or made even. */

import { h, replace, svg as mark } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { drawing } from "../views/paint.js";
import { averaged } from "./maps.js";
import { thumbnail } from "./picture.js";
import { brief, layered } from "./wishes.js";

/** @typedef {import("./maps.js").Looked} Looked */
/** @typedef {import("./wishes.js").Edit} Edit */
/** @typedef {import("./wishes.js").Wishes} Wishes */
/** @typedef {{open: (name: string, head: number | null) => void, edit: (edits: Edit[]) => void}} Hands */

/** @param {HTMLElement} host @param {Hands} hands */
export function create(host, hands) {
  const grid = h("div", { class: "see-grid", role: "group", "aria-label": "All heads, a layer a row" });
  const tools = h("div", { class: "see-edit" });
  host.append(grid, tools);
  /** Each head by `name:head`. @type {Map<string, {button: HTMLButtonElement, canvas: HTMLCanvasElement}>} */
  let cells = new Map();
  let made = "";

  /** @param {Looked[]} all */
  function build(all) {
    cells = new Map();
    const most = Math.max(1, ...all.map(({ heads }) => heads));
    grid.style.setProperty("--heads", String(most));
    replace(
      grid,
      h("button", { type: "button", class: "see-row", "data-name": "", onclick: () => hands.open("", null) }, "all"),
      Array.from({ length: most }, (_, head) => h("span", { class: "see-column" }, head + 1)),
      all.flatMap(({ name, heads }) => [
        h(
          "button",
          {
            type: "button",
            class: "see-row",
            "data-name": name,
            title: `${name}: the mean of its heads`,
            onclick: () => hands.open(name, null),
          },
          brief(name),
        ),
        ...Array.from({ length: most }, (_, head) => (head < heads ? cell(name, head) : h("span"))),
      ]),
    );
  }

  /** @param {string} name @param {number} head */
  function cell(name, head) {
    const canvas = h("canvas", { width: 1, height: 1 });
    const button = h(
      "button",
      {
        type: "button",
        class: "see-head",
        "data-name": name,
        "data-head": head,
        "aria-label": `${layered(name)}, head ${head + 1}`,
        onclick: () => hands.open(name, head),
        onkeydown: roam,
      },
      canvas,
    );
    cells.set(`${name}:${head}`, { button, canvas });
    return button;
  }

  /** Arrow keys walk over the heads. @param {KeyboardEvent} event */
  function roam(event) {
    const here = /** @type {HTMLElement} */ (event.currentTarget);
    const [name = "", head = 0] = [here.dataset["name"], Number(here.dataset["head"])];
    const names = [...new Set([...cells.keys()].map((key) => key.slice(0, key.lastIndexOf(":"))))];
    const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    cells.get(`${names[names.indexOf(name) + (way[0] ?? 0)]}:${head + (way[1] ?? 0)}`)?.button.focus();
  }

  /** @param {Looked[]} all @param {Wishes} wishes */
  function show(all, wishes) {
    const plan = all.map(({ name, heads }) => `${name}:${heads}`).join();
    if (plan !== made) build(all);
    made = plan;
    for (const one of all) for (let head = 0; head < one.heads; head++) draw(one, head);
    for (const [key, { button }] of cells) {
      const [name, head] = [key.slice(0, key.lastIndexOf(":")), Number(key.slice(key.lastIndexOf(":") + 1))];
      const edit = wishes.edits.find((each) => each.name === name && (each.head === null || each.head === head));
      button.classList.toggle("current", name === wishes.name && (wishes.head === null || wishes.head === head));
      button.setAttribute("aria-pressed", String(name === wishes.name && wishes.head === head));
      button.dataset["mark"] = edit?.kind ?? "";
    }
    for (const row of grid.querySelectorAll(".see-row"))
      row.setAttribute("aria-pressed", String(wishes.head === null && row.getAttribute("data-name") === wishes.name));
    editor(wishes);
  }

  /** @param {Looked} one @param {number} head */
  function draw(one, head) {
    const found = cells.get(`${one.name}:${head}`);
    if (!found) return;
    const { canvas, button } = found;
    button.toggleAttribute("data-blank", !one.weights);
    if (!one.weights) return;
    const values = averaged(one, head);
    const { kind, width, leading = [] } = one.axis;
    const small =
      kind === "grid" ? thumbnail(values.subarray(leading.length), width) : thumbnail(values, values.length);
    [canvas.width, canvas.height] = [small.width, small.height];
    canvas.getContext("2d")?.drawImage(small, 0, 0);
  }

  /** What is done to the head, or the layer, that is chosen. @param {Wishes} wishes */
  function editor({ name, head, edits }) {
    const others = edits.filter((each) => each.name !== name || each.head !== head);
    const kind = edits.find((each) => each.name === name && each.head === head)?.kind ?? "";
    const put = (/** @type {"" | "off" | "uniform"} */ to) =>
      hands.edit(to ? [...others, { name, head, kind: to }] : others);
    const ways = /** @type {["" | "off" | "uniform", string][]} */ ([
      ["", "as it is"],
      ["off", "off"],
      ["uniform", "even"],
    ]);
    refill(
      tools,
      name
        ? h("span", null, head === null ? `All heads of ${layered(name)}` : `Head ${head + 1} of ${layered(name)}`)
        : h("span", { class: "quiet" }, "Choose a head, or a layer by its name, to see it alone or to switch it off."),
      name &&
        h(
          "div",
          { class: "segments", role: "group", "aria-label": "What it does" },
          ways.map(([id, title]) =>
            h("button", { type: "button", "aria-pressed": String(kind === id), onclick: () => put(id) }, title),
          ),
        ),
      edits.length > 0 &&
        h(
          "button",
          { type: "button", class: "chip", onclick: () => hands.edit([]) },
          `Undo all ${edits.length} edits`.replace("all 1 edits", "the edit"),
        ),
    );
  }

  /** All of them as a drawing. */
  function exportSvg() {
    const size = 56;
    const rows = [...new Set([...cells.values()].map(({ button }) => button.dataset["name"] ?? ""))];
    const most = Math.max(1, ...[...cells.values()].map(({ button }) => Number(button.dataset["head"]) + 1));
    const out = drawing(150 + most * (size + 4), 20 + rows.length * (size + 4));
    rows.forEach((name, i) => {
      out.append(mark("text", { x: 0, y: 20 + i * (size + 4) + size / 2, fill: "currentColor" }, brief(name)));
      for (let head = 0; head < most; head++) {
        const found = cells.get(`${name}:${head}`);
        if (found)
          out.append(
            mark("image", {
              x: 150 + head * (size + 4),
              y: 20 + i * (size + 4),
              width: size,
              height: size,
              preserveAspectRatio: "none",
              style: { "image-rendering": "pixelated" },
              href: found.canvas.toDataURL(),
            }),
          );
      }
    });
    for (let head = 0; head < most; head++)
      out.append(
        mark(
          "text",
          { x: 150 + head * (size + 4) + size / 2, y: 13, fill: "currentColor", "text-anchor": "middle" },
          String(head + 1),
        ),
      );
    return out;
  }
  return { show, exportSvg };
}
