/** The search for a sentence as a tree: beginnings that were kept, and those that were given up. */

import { h, replace, svg } from "../dom.js";
import { SANS, inks, measure, themed } from "./paint.js";

/** @typedef {{id: number, parent: number | null, piece: string, log_prob: number, step: number, kept: boolean, final: number | null}} Node */
/** @typedef {{node: Node, children: Leaf[], x: number, y: number, winner: boolean}} Leaf */

const LINE = 26;

/** @param {HTMLElement} host */
export function create(host) {
  /** @type {Node[]} */
  let nodes = [];
  let pruned = false; // what was given up is many times what was kept
  /** @type {Map<number, Leaf>} */
  let leaves = new Map();
  const stage = h("div", { class: "tree-stage", tabindex: -1 });
  const readout = h("p", { class: "matrix-readout", "aria-live": "polite" });
  const toggle = h("input", { type: "checkbox", onchange: () => ((pruned = toggle.checked), draw()) });
  const root = h(
    "div",
    { class: "tree" },
    h("label", { class: "check" }, toggle, " show what was given up"),
    stage,
    readout,
  );
  host.append(root);
  const unwatch = themed(() => draw());

  /** @param {{nodes: Node[]}} next */
  function update(next) {
    nodes = next.nodes;
    draw();
  }

  function draw() {
    toggle.checked = pruned;
    replace(stage, nodes.length ? drawing() : null);
    hint();
  }

  const hint = () =>
    replace(
      readout,
      h("span", { class: "hint" }, "Point at a branch for its score; arrow keys walk through the tree."),
    );

  function drawing() {
    const colours = inks();
    leaves = grown(nodes, pruned);
    const all = [...leaves.values()];
    const width = Math.max(...all.map((leaf) => leaf.x + measure(text(leaf.node), `14px ${SANS}`))) + 60;
    const height = Math.max(...all.map((leaf) => leaf.y)) + LINE;
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
    for (const leaf of all) {
      const from = leaf.node.parent === null ? null : leaves.get(leaf.node.parent);
      if (!from) continue;
      const [x0, x1] = [from.x + measure(text(from.node), `14px ${SANS}`) + 8, leaf.x - 5];
      const middle = (x0 + x1) / 2;
      out.append(
        svg("path", {
          d: `M${x0} ${from.y}C${middle} ${from.y} ${middle} ${leaf.y} ${x1} ${leaf.y}`,
          fill: "none",
          stroke: leaf.winner ? colours.accent : leaf.node.kept ? colours.muted : colours.line,
          "stroke-width": leaf.winner ? 3 : leaf.node.kept ? 1.4 : 1,
          ...(leaf.node.kept ? {} : { "stroke-dasharray": "3 3" }),
        }),
      );
    }
    for (const leaf of all) {
      const { node } = leaf;
      out.append(
        svg(
          "g",
          {
            class: "tree-node",
            role: "treeitem",
            tabindex: node.parent === null ? 0 : -1,
            "data-id": node.id,
            "aria-label": `${text(node)}, ${node.kept ? "kept" : "given up"}, log probability ${node.log_prob.toFixed(2)}`,
            onpointerenter: () => tell(leaf),
            onfocus: () => tell(leaf),
            onkeydown: (/** @type {KeyboardEvent} */ event) => walk(event, leaf),
          },
          svg("rect", {
            x: leaf.x - 5,
            y: leaf.y - 12,
            width: measure(text(node), `14px ${SANS}`) + 10,
            height: 24,
            rx: 5,
            fill: "transparent",
          }),
          svg(
            "text",
            {
              x: leaf.x,
              y: leaf.y + 5,
              fill: leaf.winner ? colours.accent : node.kept ? colours.ink : colours.muted,
              "font-weight": leaf.winner ? 650 : 400,
            },
            text(node),
          ),
          node.final === null
            ? null
            : svg(
                "text",
                {
                  x: leaf.x + measure(text(node), `14px ${SANS}`) + 12,
                  y: leaf.y + 5,
                  fill: colours.muted,
                  "font-size": 12,
                },
                `${node.final + 1}.`,
              ),
        ),
      );
    }
    return out;
  }

  /** @param {Leaf} leaf */
  function tell({ node }) {
    const path = [];
    for (let at = leaves.get(node.id); at && at.node.parent !== null; at = leaves.get(at.node.parent))
      path.unshift(at.node.piece);
    const fate = node.final !== null ? `finished, number ${node.final + 1}` : node.kept ? "kept" : "given up";
    replace(
      readout,
      h("b", null, path.join("").trim() || "the beginning"),
      ` · ${fate} · log probability `,
      h("output", null, node.log_prob.toFixed(3).replace("-", "−")),
    );
  }

  /** @param {KeyboardEvent} event @param {Leaf} leaf */
  function walk(event, { node, children }) {
    const above = node.parent === null ? null : leaves.get(node.parent);
    const peers = [...leaves.values()].filter((other) => other.node.step === node.step).sort((a, b) => a.y - b.y);
    const place = peers.findIndex((other) => other.node.id === node.id);
    /** @type {Record<string, Leaf | null | undefined>} */
    const ways = { ArrowLeft: above, ArrowRight: children[0], ArrowUp: peers[place - 1], ArrowDown: peers[place + 1] };
    if (!(event.key in ways)) return;
    event.preventDefault();
    const next = ways[event.key];
    if (!next) return;
    const group = /** @type {SVGGElement | null} */ (stage.querySelector(`[data-id="${next.node.id}"]`));
    for (const other of stage.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
    group?.setAttribute("tabindex", "0");
    group?.focus();
    group?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  return {
    update,
    /** @returns {Promise<SVGSVGElement>} */
    exportSvg: async () => drawing(),
    destroy() {
      unwatch();
      root.remove();
    },
  };
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
