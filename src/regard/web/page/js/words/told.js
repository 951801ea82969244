/** Under the map: what it is, how far it can be trusted, what the colours mean, and what the pointer is on. */

import { h, replace } from "../dom.js";

/** @typedef {import("./desk.js").Desk} Desk */

/** @type {Record<string, string>} */
const NAMES = { tsne: "t-SNE", pca: "PCA", given: "Places as the file gives them", live: "Live t-SNE" };

/** @param {Desk} desk */
export function told(desk) {
  const legend = h("ul", { class: "words-legend", "aria-label": "Colours" });
  const line = h("p", { class: "quiet words-told" });
  const hover = h("p", { class: "quiet words-hover" });
  const element = h("div", { class: "words-foot" }, legend, line, hover);
  const refresh = () => {
    replace(
      legend,
      desk.legend.map(({ name, colour }) => h("li", null, swatch(colour), name)),
    );
    line.textContent = sentence(desk);
    hover.textContent = point(desk);
    desk.context.caption(`${desk.vectors.name}: ${sentence(desk)}`);
  };
  return { element, refresh };
}

/** @param {number[]} colour */
const swatch = (colour) => h("i", { class: "swatch", style: { "--hue": `rgb(${colour.join(",")})` } });
/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

/** @param {Desk} desk */
export function sentence(desk) {
  const { facts, map } = desk;
  const how = desk.how(desk.state);
  const [shown, count, total] = [map.scene.rows.length, desk.vectors.count, desk.about.total].map((number) =>
    number.toLocaleString("en"),
  );
  const parts = [`${NAMES[how] ?? how} of ${shown} words in ${map.scene.flat ? 2 : 3}-D`];
  if (facts["perplexity"]) parts.push(`perplexity ${Number(facts["perplexity"]).toFixed(0)}`);
  if (facts["step"] !== undefined) parts.push(`step ${facts["step"]}`);
  if (facts["kl"] !== undefined) parts.push(`KL ${Number(facts["kl"]).toFixed(2)}`);
  const shares = /** @type {number[] | undefined} */ (facts["variance"]);
  if (shares) parts.push(`${percent(shares.reduce((a, b) => a + b, 0))} of the variance`);
  const kept = facts["preservation"];
  const trust =
    facts["trustworthiness"] === undefined ? "" : `, trustworthiness ${Number(facts["trustworthiness"]).toFixed(2)}`;
  const keeps =
    kept === undefined ? "" : ` It keeps ${percent(kept)} of the ${facts["neighbours"]} nearest neighbours${trust}.`;
  const whole = desk.vectors.own || count === total ? "" : ` Of ${total} words in all, the first ${count} are here.`;
  return `${parts.join(", ")}.${keeps}${whole}`;
}

/** @param {Desk} desk */
function point({ map, vectors, state }) {
  const word = vectors.words[map.hovered];
  if (word === undefined)
    return map.scene.flat
      ? "Drag to move, wheel to zoom, Shift-drag to select."
      : "Drag to turn, Ctrl-drag to move, wheel to zoom.";
  const column =
    vectors.columns.find(({ name }) => name === (state.colour || "rank by frequency")) ?? vectors.columns[0];
  return `${word}: ${column?.name} ${column?.values[map.hovered]}`;
}
