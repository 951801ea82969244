/** Runs: how trainings on this machine go, live and side by side, and what the models that came out of them can do. */

import { aborted } from "../api.js";
import { h, replace } from "../dom.js";
import { Bar } from "../runs/bar.js";
import { Curves } from "../runs/curves.js";
import { History } from "../runs/history.js";
import { showList, showStart } from "../runs/list.js";
import { showSamples } from "../runs/samples.js";
import { read, written, writtenSort } from "../runs/state.js";
import { Table } from "../runs/table.js";
import { watch } from "../runs/watch.js";

/** @typedef {import("../app.js").Context} Context */

export const room = { id: "runs", title: "Runs", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const runs = new Runs(host, context);
  runs.register();
  void runs.findModels();
  return { restore: () => runs.restore(), unmount: () => runs.stop() };
}

class Runs {
  /** @param {HTMLElement} host @param {Context} context */
  constructor(host, context) {
    this.context = context;
    this.control = new AbortController();
    this.history = new History(context.api, this.control.signal);
    this.start = h("div");
    this.list = h("div", { class: "run-list" });
    this.cards = h("div", { class: "cards" });
    const grid = h("div", { class: "charts" });
    this.bar = new Bar((patch, undo) => this.set(patch, undo));
    this.curves = new Curves(grid, this.history);
    this.table = new Table({
      sort: (by) => this.set({ sort: writtenSort(this.state.sort, by) }),
      task: (task) => this.set({ task, sort: "" }),
      toast: context.toast,
    });
    const measured = h("div", null, this.bar.root, grid, this.cards);
    const side = h("div", { class: "run-side" }, this.start, this.list);
    this.training = h("section", { class: "training none" }, side, measured);
    replace(host, h("h1", { class: "unseen" }, "Runs"), this.training, this.table.root);
    this.unwatch = watch(this.history, {
      waits: () => !this.history.own.length,
      refresh: () => this.refresh(),
      place: this.list,
    });
  }

  get state() {
    return read(this.context.state.get(), this.history.runs);
  }

  /** @param {import("../state.js").Flat} patch @param {boolean | string} [undo] */
  set(patch, undo = true) {
    this.context.state.set(patch, { undo });
    this.restore();
  }

  /** As the link has it now. */
  restore() {
    if (this.table.models.length) this.table.show(this.state);
    void this.refresh();
  }

  async refresh() {
    const { history, context } = this;
    this.training.classList.toggle("none", !history.runs.length);
    if (history.own.length) replace(this.start);
    else showStart(this.start, context.toast);
    if (!history.runs.length) return replace(this.list);
    this.showRuns();
    await Promise.all(this.state.chosen.map((name) => history.more(name)));
    if (this.control.signal.aborted) return;
    const now = this.state;
    if (history.failed.size) this.showRuns();
    this.curves.show(now);
    showSamples(this.cards, history, now.chosen);
    context.caption(`Training curves of ${now.chosen.join(", ")}.`);
  }

  showRuns() {
    const now = this.state;
    showList(this.list, this.history, now.chosen, (names) => this.set({ runs: written(names) }));
    this.bar.show(now);
  }

  async findModels() {
    try {
      this.table.models = await this.context.api.get("/api/zoo", { signal: this.control.signal });
      this.table.show(this.state);
    } catch (error) {
      if (!aborted(error)) this.context.toast(error instanceof Error ? error.message : String(error), "error");
    }
  }

  register() {
    this.context.register({
      figures: () => [
        ...(this.history.runs.length ? this.curves.figures(this.state) : []),
        ...(this.table.models.length ? [this.table.figure(this.state)] : []),
      ],
      shortcuts: [
        { key: "l", does: "Logarithmic or linear", run: () => this.set({ log: this.state.log ? "" : 1 }) },
        {
          key: "s",
          does: "Steps or minutes",
          run: () => this.set({ over: this.state.over === "step" ? "minutes" : "" }),
        },
      ],
    });
  }

  stop() {
    this.unwatch();
    this.control.abort();
    this.curves.destroy();
  }
}
