/** Views: the crops that the student and the teacher of a DINO see, what each says of them, and whether it collapses. */

import { command } from "../claims/command.js";
import { MeterPanel } from "../crops/meters.js";
import { showPicture } from "../crops/pictures.js";
import { classes, hasCrops, pictures } from "../crops/read.js";
import { h, replace } from "../dom.js";
import { History } from "../runs/history.js";
import { watch } from "../runs/watch.js";
import { plain } from "../views/chart_scale.js";
import { refill } from "./refill.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../runs/history.js").Run} Run */

const FIRST = "regard train dino --steps 300 --evaluate 20";

export const room = { id: "views", title: "Views", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const views = new Views(host, context);
  return { restore: () => void views.refresh(), unmount: () => views.stop() };
}

class Views {
  /** @param {HTMLElement} host @param {Context} context */
  constructor(host, context) {
    this.context = context;
    this.control = new AbortController();
    this.history = new History(context.api, this.control.signal);
    this.head = h("div", { class: "views-head" });
    this.crops = h("div", { class: "views-crops" });
    this.meters = new MeterPanel();
    this.body = h("div", { class: "views-body", hidden: true }, this.meters.root, this.crops);
    replace(host, h("h1", { class: "unseen" }, "Views"), this.head, this.body);
    this.drawn = "";
    this.unwatch = watch(this.history, { waits: () => !this.run, refresh: () => this.refresh(), place: this.head });
    context.register({ figures: () => (this.run ? this.meters.figures(this.history.rowsOf(this.run.name)) : []) });
  }

  /** Runs that show crops. */
  get runs() {
    return this.history.runs.filter(hasCrops);
  }

  /** The one that is shown: as the link says, else what is alive, else the first. @returns {Run | undefined} */
  get run() {
    const { runs } = this;
    const wanted = this.context.state.get()["run"];
    return runs.find(({ name }) => name === wanted) ?? runs.find(({ alive }) => alive) ?? runs[0];
  }

  async refresh() {
    const { run } = this;
    this.body.hidden = !run;
    if (!run) return this.showStart();
    this.showHead(run);
    await this.history.more(run.name);
    if (this.control.signal.aborted) return;
    this.meters.show(this.history.rowsOf(run.name), classes(run));
    this.showCrops(run);
    this.context.caption(`Views of ${run.name} at step ${run.step}.`);
  }

  /** @param {Run} run */
  showHead({ name, alive, step, steps }) {
    const choose = (/** @type {Event} */ event) => {
      this.context.state.set({ run: /** @type {HTMLSelectElement} */ (event.target).value }, { undo: true });
      void this.refresh();
    };
    const options = this.runs.map((each) => h("option", { value: each.name, selected: each.name === name }, each.name));
    refill(
      this.head,
      h("label", { class: "pick" }, "Run", h("select", { onchange: choose }, options)),
      alive && h("span", { class: "alive" }, "live"),
      h("span", { class: "quiet" }, `step ${plain(step)}${steps ? ` of ${plain(steps)}` : ""}`),
      h("a", { href: `#/runs?runs=${encodeURIComponent(name)}` }, "All its curves"),
    );
  }

  /** Crops are drawn anew only where an answer is new, so that nothing flickers. @param {Run} run */
  showCrops(run) {
    const now = JSON.stringify([run.name, run.samples]);
    if (now === this.drawn) return;
    this.drawn = now;
    replace(
      this.crops,
      h("h2", null, "What it sees, and what it says"),
      h(
        "p",
        { class: "quiet" },
        "A bar is an answer: shares of classes that have numbers and no names. The same colour is the same class.",
      ),
      pictures(run).map(showPicture),
    );
  }

  showStart() {
    if (this.head.querySelector(".first-run")) return; // it stays as it is, with what is marked in it
    replace(
      this.head,
      h(
        "section",
        { class: "first-run" },
        h("h2", null, "No crops yet"),
        h(
          "p",
          null,
          "Train a DINO in a terminal, in the folder where this explorer was started. At each evaluation, what student and teacher see and say appears here.",
        ),
        command(FIRST, this.context.toast),
        h("p", { class: "quiet" }, "With --no-centre or --no-sharpen it collapses, and the meters show how."),
      ),
    );
  }

  stop() {
    this.unwatch();
    this.control.abort();
    this.meters.destroy();
  }
}
