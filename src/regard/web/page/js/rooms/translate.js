/** Translate: type a sentence and see where each word of the output looked, in one model or in three side by side. */

import { ApiError, aborted } from "../api.js";
import { h, replace } from "../dom.js";
import * as look from "./look.js";
import { LANGUAGES, pairing } from "./pair.js";
import { pick } from "./pick.js";
import { refill } from "./refill.js";
import { MOST, VIEWS, read, writtenEdits, writtenPair } from "./url.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("../state.js").Flat} Flat */
/** @typedef {import("./answer.js").Result} Result */
/** @typedef {import("./url.js").Pair} Pair */
/** @typedef {import("./url.js").Wishes} Wishes */

const PAUSE = 350; // milliseconds after the last letter
const KEPT = 16; // answers, so that undo is instant
export const room = { id: "translate", title: "Translate", key: "2", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const about = await context.api.about();
  const models = about.models.filter((each) => each["task"] === "translate");
  if (!models.length) {
    replace(
      host,
      h(
        "section",
        { class: "empty" },
        h("h2", null, "No model that translates yet"),
        h("p", null, "Train one, then start again with it:"),
        h("code", null, "regard train translate --out runs/mine"),
        h("code", null, "regard explore --model runs/mine/model"),
      ),
    );
    return { restore() {}, unmount() {} };
  }

  /** @type {Map<string, Promise<Result>>} */
  const answers = new Map();
  /** @type {ReturnType<typeof look.create>[]} */
  let panels = [];
  /** @type {{pair: string, found: Promise<{text: string, reference: string}>} | null} */
  let asked = null;
  let timer = 0;

  const state = () => read(context.state.get(), models);
  const set = (/** @type {Flat} */ patch, /** @type {boolean | string} */ undo = true) => {
    context.state.set(patch, { undo });
    refresh();
  };

  const field = h("textarea", {
    class: "composer",
    rows: 2,
    spellcheck: "false",
    maxlength: about.limits["text"] ?? 2000,
    "aria-label": "Sentence to translate",
    placeholder: "Type a sentence …",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => set({ text: field.value, pair: "", word: "" }, "typing"), PAUSE);
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      clearTimeout(timer);
      set({ text: field.value, pair: "", word: "" }, "typing");
    },
  });
  const options = h("div", { class: "translate-options" });
  const tabs = h("div", { class: "segments tabs", role: "tablist", "aria-label": "View" });
  const extras = h("div", { class: "view-extras" });
  const stage = h("div", { class: "looks" });
  replace(
    host,
    h("h1", { class: "unseen" }, "Translate"),
    field,
    h("div", { class: "view-bar" }, tabs, extras, options),
    stage,
  );

  /** Ask, or remember. @param {Record<string, unknown>} request @param {AbortSignal} signal @param {boolean} [fresh] @returns {Promise<Result>} */
  async function ask(request, signal, fresh = false) {
    try {
      return await shared(request, signal, fresh);
    } catch (error) {
      // Somebody else asked the same and gave up.
      if (aborted(error) && !signal.aborted) return ask(request, signal, fresh);
      throw error;
    }
  }

  /** @param {Record<string, unknown>} request @param {AbortSignal} signal @param {boolean} fresh */
  function shared(request, signal, fresh) {
    const key = JSON.stringify(request);
    const known = answers.get(key);
    if (known && !fresh) return known;
    const found = patient(() => context.api.post("/api/translate", request, { signal }), signal).then(complete);
    answers.set(key, found);
    found.catch(() => answers.delete(key));
    for (const old of [...answers.keys()].slice(0, Math.max(0, answers.size - KEPT))) answers.delete(old);
    return found;
  }

  /** The sentence of the world that the link names. @param {Pair} pair */
  function paired(pair) {
    const key = writtenPair(pair);
    if (asked?.pair !== key) {
      const found = context.api.get("/api/world/pair", { params: { ...pair, split: "test" } }).then(sentence);
      asked = { pair: key, found };
      found.catch(() => (asked = null));
    }
    return asked.found;
  }

  /** Bring everything in line with the state. */
  async function refresh() {
    const now = state();
    controls(now);
    if (document.activeElement !== field || now.pair) field.value = now.text;
    while (panels.length > now.models.length) panels.pop()?.destroy();
    while (panels.length < now.models.length) panels.push(make(panels.length));
    stage.style.setProperty("--panels", String(now.models.length));
    /** @type {{text: string, reference: string} | null} */
    let said = null;
    if (now.pair) {
      try {
        said = await paired(now.pair);
        if (writtenPair(state().pair) !== writtenPair(now.pair)) return;
        if (!now.text || now.text !== said.text) field.value = said.text;
      } catch (error) {
        if (!aborted(error)) context.toast(error instanceof Error ? error.message : String(error), "error");
      }
    }
    const text = said?.text ?? now.text;
    if (!text.trim()) {
      for (const panel of panels) panel.destroy();
      panels = [];
      replace(
        stage,
        h(
          "section",
          { class: "empty" },
          h("h2", null, "Type a sentence"),
          h("p", null, "Every word of its translation will show where it looked."),
        ),
      );
      return;
    }
    stage.querySelector(".empty")?.remove();
    if (!panels.length) panels = now.models.map((_, i) => make(i));
    now.models.forEach((model, i) => {
      /** @type {Record<string, unknown>} */
      const request = { model: model["name"], text, beam: now.beam };
      if (model["multilingual"]) request["to"] = now.pair?.target ?? now.to ?? firstTarget(model);
      if (said && now.pair)
        Object.assign(request, {
          pair: { ...now.pair, split: "test" },
          ...(now.force ? { force: said.reference } : {}),
        });
      void panels[i]?.show({
        model,
        request,
        edits: now.edits[i] ?? [],
        look: now.looks[i] ?? "",
        view: now.view,
        merge: now.merge,
        word: now.word,
        small: now.models.length > 1,
      });
    });
  }

  /** @param {number} i */
  function make(i) {
    const top = h("header", { class: "look-top" });
    const box = h("article", { class: "look-box" }, top);
    stage.append(box);
    const made = look.create(box, {
      context,
      ask,
      done: () => {
        heading(top, i);
        context.caption(panels.map((panel) => panel.caption()).join(" "));
      },
      change: (patch) => {
        const now = state();
        /** @type {Flat} */
        const next = {};
        if (patch.look !== undefined) next["look"] = swapped(now.looks, i, patch.look).join(",");
        if (patch.word !== undefined) next["word"] = patch.word === null ? "" : patch.word;
        if (patch.edits !== undefined)
          next["edits"] = writtenEdits(swapped(now.edits, i, patch.edits));
        set(next);
      },
    });
    heading(top, i);
    const { destroy } = made;
    return { ...made, destroy: () => (destroy(), box.remove()) };
  }

  /** Which model a panel shows. @param {HTMLElement} top @param {number} i */
  function heading(top, i) {
    const now = state();
    const model = now.models[i];
    if (!model) return;
    const box = h(
      "select",
      {
        "aria-label": now.models.length > 1 ? `Model ${i + 1}` : "Model",
        onchange: () =>
          set({
            model: swapped(now.models, i, named(box.value))
              .map((each) => each?.["name"] ?? "")
              .join(","),
            look: swapped(now.looks, i, "").join(","),
            edits: writtenEdits(swapped(now.edits, i, [])),
            word: "",
          }),
      },
      models.map((each) =>
        h("option", { value: each["name"], selected: each === model }, each === model ? brief(model, now.models) : titled(each)),
      ),
    );
    const without = () => {
      const gone = (/** @type {any[]} */ some) => some.filter((_, k) => k !== i);
      set({
        model: gone(now.models)
          .map((each) => each["name"])
          .join(","),
        look: gone(now.looks).join(","),
        edits: "",
        word: "",
      });
    };
    const measured = model["measured"] ?? {};
    // A model that writes small letters only is not to be blamed for each capital.
    const bleu = model["lower"] ? measured["bleu_lower"] : measured["bleu"];
    const facts = [
      model["parameters"] && `${(model["parameters"] / 1e6).toFixed(1)} M parameters`,
      typeof bleu === "number" && `BLEU ${bleu.toFixed(2)}`,
    ];
    refill(
      top,
      box,
      h("span", { class: "quiet facts" }, facts.filter(Boolean).join(" · ")),
      now.models.length > 1 &&
        h(
          "button",
          {
            type: "button",
            class: "icon small",
            "aria-label": `Take ${model["title"] ?? model["name"]} away`,
            onclick: without,
          },
          "✕",
        ),
    );
  }

  /** @param {string} name */
  const named = (name) => models.find((each) => each["name"] === name) ?? models[0] ?? {};

  /** @param {Wishes} now */
  function controls(now) {
    const multilingual = now.models.some((model) => model["multilingual"]);
    const beam = h("input", {
      type: "range",
      min: 1,
      max: about.limits["beam"] ?? 10,
      value: now.beam,
      "aria-label": "Beam",
      onchange: () => set({ beam: beam.value }),
      oninput: () => replace(width, beam.value),
    });
    const width = h("output", null, now.beam);
    refill(
      options,
      pairing(now.pair, now.models[0] ?? {}, set, () => set({ pair: "", text: field.value, word: "" })),
      multilingual &&
        !now.pair &&
        pick(
          "into",
          languages(now.models),
          String(now.to ?? firstTarget(now.models.find((each) => each["multilingual"]) ?? {})),
          (to) => set({ to }),
        ),
      h("label", { class: "pick beam" }, "beam", beam, width),
      now.models.length < MOST &&
        models.length > 1 &&
        h(
          "button",
          { type: "button", class: "button", onclick: compare },
          now.models.length > 1 ? "Add a model" : "Compare models",
        ),
    );
    const cross = now.view !== "beam" && now.view !== "neuron";
    refill(
      tabs,
      VIEWS.map(({ id, title, key }) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            "aria-selected": String(id === now.view),
            title: `${title} (${key})`,
            onclick: () => set({ view: id }),
          },
          title,
        ),
      ),
    );
    const words = h("input", {
      type: "checkbox",
      checked: now.merge === "words",
      onchange: () => set({ merge: words.checked ? "" : "pieces", word: "" }),
    });
    const force = h("input", {
      type: "checkbox",
      checked: now.force,
      onchange: () => set({ force: force.checked ? 1 : "", word: "" }),
    });
    refill(
      extras,
      cross && h("label", { class: "check" }, words, "pieces merged to words"),
      now.pair && h("label", { class: "check" }, force, "write the reference"),
      now.pair && cross && h("span", { class: "check key-gold" }, h("i", { "aria-hidden": "true" }), "gold alignment"),
    );
  }

  function compare() {
    const now = state();
    // Another kind of model tells most: without attention, with it, and nothing but it.
    const kinds = new Set(now.models.map(kind));
    const source = now.models[0]?.["source"];
    const free = models.filter((each) => !now.models.includes(each));
    const next =
      free.find((each) => !kinds.has(kind(each)) && each["source"] === source) ??
      free.find((each) => !kinds.has(kind(each))) ??
      free[0] ??
      models[0];
    set({ model: [...now.models, next].map((each) => each?.["name"]).join(","), word: "" });
  }

  context.register({
    figures: () => panels.flatMap((panel) => panel.figures()),
    shortcuts: [
      ...VIEWS.map(({ id, title, key }) => ({ key, does: title, run: () => set({ view: id }) })),
      { key: "/", does: "Write a sentence", run: () => field.focus() },
      { key: "[", does: "The head before", run: () => panels[0]?.turn(-1) },
      { key: "]", does: "The next head", run: () => panels[0]?.turn(1) },
      {
        key: "w",
        does: "Words or pieces",
        run: () => set({ merge: state().merge === "words" ? "pieces" : "", word: "" }),
      },
      { key: "r", does: "Reset all heads", run: () => set({ edits: "" }) },
      { key: "m", does: "On a thumbnail: switch the head off, or make it uniform" },
    ],
  });
  void refresh();
  return {
    restore: () => void refresh(),
    unmount: () => {
      clearTimeout(timer);
      for (const panel of panels) panel.destroy();
    },
  };
}

/** A full queue is asked again after a moment. @template T @param {() => Promise<T>} run @param {AbortSignal} signal @returns {Promise<T>} */
async function patient(run, signal) {
  for (let pause = 300; ; pause *= 2) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ApiError && error.busy) || pause > 3000 || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** What older answers leave out. @param {any} result @returns {Result} */
function complete(result) {
  const target = result.outputs[0] ?? { pieces: [], words: [] };
  return { ...result, axes: result.axes ?? { source: result.source, target, read: target } };
}

/** @param {any} found @returns {{text: string, reference: string}} */
function sentence(found) {
  const said = (/** @type {unknown} */ words) =>
    Array.isArray(words) ? words.join(" ").replace(/ ([.,;:!?])/g, "$1") : String(words);
  return { text: found.text ?? said(found.source), reference: found.reference ?? said(found.target) };
}

/** @template T @param {T[]} some @param {number} i @param {T} value @returns {(T | undefined)[]} */
function swapped(some, i, value) {
  const next = /** @type {(T | undefined)[]} */ ([...some]);
  next[i] = value;
  return Array.from(next);
}

/** @param {Record<string, any>} model @returns {string} */
const titled = (model) => model["title"] ?? model["name"];

/** What a model is called beside others: without the languages and the data that all of them share.
 * @param {Record<string, any>} model @param {Record<string, any>[]} beside */
function brief(model, beside) {
  const parts = beside.map((each) => titled(each).match(/^(.*?: )?(.*?)(, [^,]*)?$/) ?? []);
  const shared = (/** @type {number} */ i) => beside.length > 1 && parts.every((each) => each[i] === parts[0]?.[i]);
  const [, before = "", name = titled(model), behind = ""] = parts[beside.indexOf(model)] ?? [];
  return `${shared(1) ? "" : before}${name}${shared(3) ? "" : behind}`;
}

/** @param {Record<string, any> | undefined} model */
const kind = (model) =>
  model?.["family"] === "transformer" ? "transformer" : model?.["cross_attentions"] ? "attention" : "blind";
/** @param {Record<string, any>} model */
const firstTarget = (model) =>
  (model["languages"] ?? []).find((/** @type {string} */ code) => code !== model["source"]) ?? "en";
/** @param {Record<string, any>[]} models */
const languages = (models) =>
  [...new Set(models.flatMap((model) => /** @type {string[]} */ (model["languages"] ?? [])))].map(
    (code) => /** @type {[string, string]} */ ([code, LANGUAGES[code] ?? code]),
  );
