/** All models as a sheet over any room: what each knows, takes and gives, how large it is and what was measured. */

import { about } from "./api.js";
import { h, replace } from "./dom.js";
import { metricText, metricsTold } from "./measured.js";
import { roomOf } from "./rooms/index.js";
import { openSheet } from "./sheet.js";

/** @typedef {Record<string, any>} Model */
/** @typedef {{tasks?: string[] | undefined, chosen: (name: string, model: Model) => void}} Wish */

/** @param {Wish} wish */
export async function openModels({ tasks, chosen }) {
  const list = h("div", { class: "models-list" });
  const field = h("input", {
    type: "search",
    placeholder: "Task, data, language …",
    "aria-label": "Search models",
    oninput: () => draw(),
  });
  const dialog = openSheet("Models", field, list);
  dialog.classList.add("models");
  replace(list, h("p", { class: "quiet" }, "Asking for the models …"));
  /** @type {Model[]} */
  let models = [];
  try {
    models = (await about()).models.filter((each) => !tasks || tasks.includes(String(each["task"])));
  } catch (error) {
    replace(list, h("p", { role: "alert" }, error instanceof Error ? error.message : String(error)));
    return;
  }

  /** @param {Model} model */
  const choose = (model) => {
    dialog.close();
    chosen(model["name"], model);
  };
  function draw() {
    const parts = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = models.filter((model) => parts.every((part) => text(model).includes(part)));
    replace(
      list,
      found.length
        ? found.map((model) => entry(model, () => choose(model)))
        : h("p", { class: "quiet" }, "No model fits; fewer words find more."),
    );
  }
  draw();
  field.focus();
}

/** Everything that a search may find. @param {Model} model */
const text = (model) =>
  ["name", "title", "task", "family", "data", "knows", "takes", "gives", "languages"]
    .map((key) => String(model[key] ?? ""))
    .join(" ")
    .toLowerCase();

/** @param {Model} model @param {() => void} open */
function entry(model, open) {
  const room = roomOf(model["task"]);
  const facts = [
    room?.title ?? model["task"],
    model["parameters"] && `${(model["parameters"] / 1e6).toFixed(1)} M parameters`,
    model["bytes"] && `${(model["bytes"] / 1e6).toFixed(1)} MB`,
  ];
  const measured = metricsTold(model);
  return h(
    "article",
    { class: "models-entry" },
    h(
      "button",
      { type: "button", class: "models-name", onclick: open, disabled: !room },
      String(model["title"] ?? model["name"]),
    ),
    model["knows"] && h("p", { class: "models-knows", title: model["knows"] }, `Knows ${model["knows"]}`),
    h("p", { class: "quiet" }, h("code", null, String(model["name"])), ` · ${facts.filter(Boolean).join(" · ")}`),
    measured.length > 0 &&
      h(
        "p",
        { class: "quiet" },
        "Measured: ",
        measured
          .slice(0, 3)
          .map((each) => metricText(...each))
          .join(" · "),
      ),
    model["terms"] && h("p", { class: "quiet" }, `Terms of its data: ${model["terms"]}`),
  );
}
