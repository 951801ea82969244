/** The search for a sentence as a tree: beginnings that were kept, and those that were given up. */

import { h, replace, svg } from "../dom.js";
import { SANS, inks, measure, themed } from "./paint.js";

/** @typedef {{id: number, parent: number | null, piece: string, log_prob: number, step: number, kept: boolean, final: number | null}} Node */
/** @typedef {{node: Node, children: Leaf[], x: number, y: number, winner: boolean}} Leaf */

const LINE = 26;
const FONT = `14px ${SANS}`;

/** @param {HTMLElement} host */
export function create(host) {
  const made = new Tree(host);
  return {
    update: (/** @type {{nodes: Node[]}} */ next) => made.update(next.nodes),
    /** @returns {Promise<SVGSVGElement>} */
    exportSvg: async () => made.drawing(),
    table: () => made.table(),
    json: () => ({ nodes: made.nodes }),
    destroy: () => made.destroy(),
  };
}

class Tree {
  /** @param {HTMLElement} host */
  constructor(host) {
    /** @type {Node[]} */
    this.nodes = [];
    this.pruned = false; // what was given up is many times what was kept
    /** @type {Map<number, Leaf>} */
    this.leaves = new Map();
    this.stage = h("div", { class: "tree-stage", tabindex: -1 });
    this.readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
    this.toggle = h("input", {
      type: "checkbox",
      onchange: () => {
        this.pruned = this.toggle.checked;
        this.draw();
      },
    });
    const label = h("label", { class: "check" }, this.toggle, " show what was given up");
    this.root = h("div", { class: "tree" }, label, this.stage, this.readout);
    host.append(this.root);
    this.unwatch = themed(() => this.draw());
  }

  /** @param {Node[]} nodes */
  update(nodes) {
    this.nodes = nodes;
    this.draw();
  }

  draw() {
    this.toggle.checked = this.pruned;
    replace(this.stage, this.nodes.length ? this.drawing() : null);
    const how = "Point at a branch for its score; arrow keys walk through the tree.";
    replace(this.readout, h("span", { class: "tip" }, how));
  }

  drawing() {
    this.leaves = grown(this.nodes, this.pruned);
    const all = [...this.leaves.values()];
    const width = all.reduce((so, leaf) => Math.max(so, leaf.x + measure(text(leaf.node), FONT)), 0) + 60;
    const height = all.reduce((so, leaf) => Math.max(so, leaf.y), 0) + LINE;
    const out = svg("svg", {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      class: "tree-figure",
      role: "tree",
      "aria-label": "Beam search",
      "font-family": SANS,
      "font-size": 14,
    });
    out.append(...all.flatMap((leaf) => this.branch(leaf) ?? []), ...all.map((leaf) => this.leaf(leaf)));
    return out;
  }

  /** @param {Leaf} leaf */
  branch(leaf) {
    const from = leaf.node.parent === null ? null : this.leaves.get(leaf.node.parent);
    if (!from) return null;
    const colours = inks();
    const [x0, x1] = [from.x + measure(text(from.node), FONT) + 8, leaf.x - 5];
    const middle = (x0 + x1) / 2;
    return svg("path", {
      d: `M${x0} ${from.y}C${middle} ${from.y} ${middle} ${leaf.y} ${x1} ${leaf.y}`,
      fill: "none",
      stroke: leaf.winner ? colours.accent : leaf.node.kept ? colours.muted : colours.line,
      "stroke-width": leaf.winner ? 3 : leaf.node.kept ? 1.4 : 1,
      ...(leaf.node.kept ? {} : { "stroke-dasharray": "3 3" }),
    });
  }

  /** @param {Leaf} leaf */
  leaf(leaf) {
    const colours = inks();
    const { node, x, y, winner } = leaf;
    const wide = measure(text(node), FONT);
    const fill = winner ? colours.accent : node.kept ? colours.ink : colours.muted;
    const place = { x: x + wide + 12, y: y + 5, fill: colours.muted, "font-size": 12 };
    return svg(
      "g",
      {
        class: "tree-node",
        role: "treeitem",
        tabindex: node.parent === null ? 0 : -1,
        "data-id": node.id,
        "aria-label": `${text(node)}, ${node.kept ? "kept" : "given up"}, log probability ${node.log_prob.toFixed(2)}`,
        onpointerenter: () => this.tell(leaf),
        onfocus: () => this.tell(leaf),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.walk(event, leaf),
      },
      svg("rect", { x: x - 5, y: y - 12, width: wide + 10, height: 24, rx: 5, fill: "transparent" }),
      svg("text", { x, y: y + 5, fill, "font-weight": winner ? 650 : 400 }, text(node)),
      node.final === null ? null : svg("text", place, `${node.final + 1}.`),
    );
  }

  /** @param {Leaf} leaf */
  tell({ node }) {
    const path = [];
    for (let at = this.leaves.get(node.id); at && at.node.parent !== null; at = this.leaves.get(at.node.parent))
      path.unshift(at.node.piece);
    const fate = node.final !== null ? `finished, number ${node.final + 1}` : node.kept ? "kept" : "given up";
    replace(
      this.readout,
      h("b", null, path.join("").trim() || "the beginning"),
      ` · ${fate} · log probability `,
      h("output", null, node.log_prob.toFixed(3).replace("-", "−")),
    );
  }

  /** @param {KeyboardEvent} event @param {Leaf} leaf */
  walk(event, { node, children }) {
    const above = node.parent === null ? null : this.leaves.get(node.parent);
    const peers = [...this.leaves.values()].filter((other) => other.node.step === node.step).sort((a, b) => a.y - b.y);
    const place = peers.findIndex((other) => other.node.id === node.id);
    /** @type {Record<string, Leaf | null | undefined>} */
    const ways = { ArrowLeft: above, ArrowRight: children[0], ArrowUp: peers[place - 1], ArrowDown: peers[place + 1] };
    if (!(event.key in ways)) return;
    event.preventDefault();
    const next = ways[event.key];
    if (!next) return;
    const group = /** @type {SVGGElement | null} */ (this.stage.querySelector(`[data-id="${next.node.id}"]`));
    for (const other of this.stage.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
    group?.setAttribute("tabindex", "0");
    group?.focus();
    group?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Every beginning that was considered. */
  table() {
    return {
      columns: ["id", "parent", "step", "piece", "log probability", "kept", "place"],
      rows: this.nodes.map((node) => [
        node.id,
        node.parent ?? "",
        node.step,
        node.piece,
        node.log_prob,
        node.kept ? 1 : 0,
        node.final === null ? "" : node.final + 1,
      ]),
    };
  }

  destroy() {
    this.unwatch();
    this.root.remove();
  }
}

/** @param {Node} node */
const text = (node) => (node.parent === null ? "●" : node.piece.trim() || "␣");

/** Where everything stands: a column for each step, the winner on top. @param {Node[]} nodes @param {boolean} pruned */
function grown(nodes, pruned) {
  /** @type {Map<number, Leaf>} */
  const leaves = new Map();
  for (const node of nodes)
    if (pruned || node.kept || node.parent === null)
      leaves.set(node.id, { node, children: [], x: 0, y: 0, winner: false });
  for (const leaf of leaves.values()) leaves.get(leaf.node.parent ?? -1)?.children.push(leaf);
  for (let at = [...leaves.values()].find((leaf) => leaf.node.final === 0); at; at = leaves.get(at.node.parent ?? -1))
    at.winner = true;
  /** @type {number[]} */
  const widths = [];
  for (const { node } of leaves.values())
    widths[node.step] = Math.max(widths[node.step] ?? 0, measure(text(node), `14px ${SANS}`));
  /** @type {number[]} */
  const starts = [8];
  for (let step = 1; step < widths.length; step++)
    starts[step] = (starts[step - 1] ?? 0) + (widths[step - 1] ?? 0) + 44;
  let line = 0;
  const kin = (/** @type {Leaf} */ leaf) => (leaf.winner ? 2 : leaf.node.kept ? 1 : 0);
  const roots = [...leaves.values()].filter((leaf) => leaf.node.parent === null);
  // Without recursion: a sentence of 512 words is a deep tree.
  /** @type {[Leaf, boolean][]} */
  const stack = roots.map((leaf) => [leaf, true]);
  while (stack.length) {
    const [leaf, first] = /** @type {[Leaf, boolean]} */ (stack.pop());
    if (!first) line += 1;
    leaf.x = starts[leaf.node.step] ?? 8;
    leaf.y = 16 + line * LINE;
    leaf.children.sort((a, b) => kin(b) - kin(a) || b.node.log_prob - a.node.log_prob);
    for (let i = leaf.children.length - 1; i >= 0; i--) stack.push([/** @type {Leaf} */ (leaf.children[i]), i === 0]);
  }
  return leaves;
}
