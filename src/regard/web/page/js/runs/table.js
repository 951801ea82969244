/** The models of this server in a table that can be sorted, with the command that trained each. */

import { command } from "../claims/command.js";
import { h } from "../dom.js";
import { roomOf } from "../rooms/index.js";
import { pick } from "../rooms/pick.js";
import { refill } from "../rooms/refill.js";
import { comparing, heading } from "../views/sortable.js";
import { columns } from "./columns.js";

/** @typedef {import("./columns.js").Model} Model */
/** @typedef {import("./columns.js").Column} Column */
/** @typedef {{task: string, sort: import("../views/sortable.js").Sort}} State */
/** @typedef {{sort: (by: string) => void, task: (task: string) => void, toast: import("../app.js").Context["toast"]}} Hands */

export class Table {
  /** @param {Hands} hands */
  constructor(hands) {
    this.hands = hands;
    /** @type {Model[]} */
    this.models = [];
    /** Models whose command is shown. @type {Set<string>} */
    this.open = new Set();
    this.root = h("section", { class: "models-table" });
  }

  /** @param {State} now */
  show(now) {
    const tasks = new Set(this.models.map(task));
    /** @type {[string, string][]} */
    const choices = [["", "all tasks"], ...[...tasks].map((each) => /** @type {[string, string]} */ ([each, each]))];
    const { models } = this.rows(now);
    refill(
      this.root,
      h("header", null, h("h2", null, "Models"), pick("task", choices, now.task, this.hands.task)),
      models.length
        ? h("div", { class: "zoo", tabindex: 0, role: "region", "aria-label": "Table of models" }, this.table(now))
        : h("p", { class: "quiet" }, "No such model is here; add one by regard explore --model FOLDER."),
    );
  }

  /** @param {State} now */
  rows({ task: wanted, sort }) {
    const models = this.models.filter((model) => !wanted || task(model) === wanted);
    const heads = columns(models, wanted !== "");
    const by = heads.find(({ key }) => key === sort.by);
    return { heads, models: by ? [...models].sort(comparing(by, sort.down)) : models };
  }

  /** @param {State} now */
  table(now) {
    const { heads, models } = this.rows(now);
    const titles = heads.map((column) => heading(column, now.sort, () => this.hands.sort(column.key)));
    const rows = models.flatMap((model) => this.row(model, heads, () => this.show(now)));
    return h(
      "table",
      { class: "sortable" },
      h("caption", { class: "unseen" }, "Models and what was measured of them"),
      h("thead", null, h("tr", null, titles, h("th", { scope: "col" }, "trained by"))),
      h("tbody", null, rows),
    );
  }

  /** @param {Model} model @param {Column[]} heads @param {() => void} show */
  row(model, heads, show) {
    const open = this.open.has(model["name"]) && model["command"];
    const toggle = () => {
      if (!this.open.delete(model["name"])) this.open.add(model["name"]);
      show();
    };
    const cells = heads.slice(1).map((column) => h("td", { class: kind(column, model) }, column.text(model)));
    const how = () => h("td", { colspan: heads.length + 1 }, command(model["command"], this.hands.toast));
    return [
      h("tr", null, h("th", { scope: "row" }, link(model)), cells, h("td", null, trained(model, open, toggle))),
      open && h("tr", { class: "how" }, how()),
    ];
  }

  /** What is seen, to take away. @param {State} now */
  figure(now) {
    const { heads, models } = this.rows(now);
    const columns = [...heads.map(({ name }) => name), "trained by"];
    const cells = (/** @type {Model} */ model) =>
      heads.map(({ group, value, text }) => (group ? text(model) : (value(model) ?? "")));
    return {
      title: "models",
      table: () => ({ columns, rows: models.map((model) => [...cells(model), model["command"] ?? ""]) }),
    };
  }
}

/** @param {Model} model */
const task = (model) => String(model["task"] ?? "other");

/** @param {Column} column @param {Model} model */
const kind = ({ key, group, value }, model) => `is-${key}${!group && typeof value(model) === "number" ? " count" : ""}`;

/** A model opens in the room of its task, if there is one. @param {Model} model */
function link(model) {
  const opens = roomOf(model["task"]);
  if (!opens) return model["title"];
  const href = `#/${opens.id}?m=${encodeURIComponent(model["name"])}`;
  return h("a", { href, title: `Look inside, in ${opens.title}` }, model["title"]);
}

/** @param {Model} model @param {boolean} open @param {() => void} toggle */
function trained({ title, command: known, trained: { recipe, stages } }, open, toggle) {
  if (!known) return recipe ? h("span", { class: "quiet" }, stages > 1 ? `${recipe}, ${stages} stages` : recipe) : "–";
  const label = `Command that trained ${title}`;
  const props = { type: "button", class: "button", "aria-expanded": String(Boolean(open)), "aria-label": label };
  return h("button", { ...props, onclick: toggle }, recipe);
}
