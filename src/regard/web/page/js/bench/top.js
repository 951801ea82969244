/** Which model a panel shows, what is measured of it, and how to take another. */

import { h } from "../dom.js";
import { metricText } from "../measured.js";
import { refill } from "../rooms/refill.js";
import { spent, titled } from "./answer.js";

/** @typedef {import("./answer.js").Model} Model */
/** @typedef {{models: Model[], index: number, seconds: number, open: () => void, away: () => void}} Heading */

/** @param {HTMLElement} top @param {Heading} heading */
export function heading(top, { models, index, seconds, open, away }) {
  const model = models[index];
  if (!model) return;
  const several = models.length > 1;
  refill(
    top,
    h(
      "button",
      {
        type: "button",
        class: "model",
        "aria-label": `${several ? `Model ${index + 1}` : "Model"}: ${titled(model)}. Choose another`,
        onclick: open,
      },
      h("b", null, brief(model, models)),
      " ",
      h("span", { class: "quiet", "aria-hidden": "true" }, "change"),
    ),
    h("span", { class: "quiet facts" }, facts(model)),
    seconds > 0 && h("span", { class: "quiet seconds", title: "The model took this long" }, spent(seconds)),
    several &&
      h(
        "button",
        { type: "button", class: "icon small", "aria-label": `Take ${titled(model)} away`, onclick: away },
        "×",
      ),
  );
}

/** @param {Model} model */
function facts(model) {
  const measured = model["measured"] ?? {};
  // A model that writes small letters only is not to be blamed for each capital.
  const bleu = model["lower"] ? measured["bleu_lower"] : measured["bleu"];
  const parts = [
    model["parameters"] && `${(model["parameters"] / 1e6).toFixed(1)} M parameters`,
    typeof bleu === "number" && metricText("bleu", bleu),
  ];
  return parts.filter(Boolean).join(" · ");
}

/** What a model is called beside others: without the languages and the data that all of them share. @param {Model} model @param {Model[]} beside */
function brief(model, beside) {
  const parts = beside.map((each) => titled(each).match(/^(.*?: )?(.*?)(, [^,]*)?$/) ?? []);
  const shared = (/** @type {number} */ i) => beside.length > 1 && parts.every((each) => each[i] === parts[0]?.[i]);
  const [, before = "", name = titled(model), behind = ""] = parts[beside.indexOf(model)] ?? [];
  return `${shared(1) ? "" : before}${name}${shared(3) ? "" : behind}`;
}
