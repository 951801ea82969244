/** The frame: it opens the room that the address names, and gives every room the same tools. */

import * as api from "./api.js";
import { h, replace } from "./dom.js";
import { openExport } from "./export.js";
import { guide } from "./guide.js";
import { openHelp } from "./help.js";
import { bringForward } from "./sheet.js";
import { Journey } from "./state.js";
import { applyTheme, toggleTheme } from "./theme.js";

/** @typedef {import("./state.js").Flat} Flat */
/** @typedef {import("./state.js").SetOptions} SetOptions */
/** @typedef {import("./export.js").Figure} Figure */
/** @typedef {{key: string, does: string, run?: (event: KeyboardEvent) => void}} Shortcut */

/**
 * What a room is given.
 * @typedef {object} Context
 * @property {typeof api} api questions to the server
 * @property {{get: () => Flat, set: (patch: Flat, options?: SetOptions) => void}} state what the link holds
 * @property {(message: string, kind?: "note" | "error") => void} toast a word in passing
 * @property {(text: string) => void} caption what stands under an exported figure: model, input, layer, head
 * @property {(what: {figures?: () => Figure[], shortcuts?: Shortcut[]}) => void} register what can be exported and pressed
 * @property {(room: string, state?: Flat) => void} go open another room
 */
/** @typedef {{restore: (state: Flat) => void, unmount: () => void}} Mounted */
/** @typedef {{id: string, title: string, key: string, mount: (host: HTMLElement, context: Context) => Mounted | Promise<Mounted>}} Room */

/** @type {{id: string, title: string, key: string, load: () => Promise<{room: Room}>}[]} */
const ROOMS = [
  { id: "home", title: "Home", key: "h", load: () => import("./rooms/home.js") },
  { id: "build", title: "Build up", key: "1", load: () => import("./rooms/build.js") },
  { id: "translate", title: "Translate", key: "2", load: () => import("./rooms/translate.js") },
  { id: "world", title: "World", key: "3", load: () => import("./rooms/world.js") },
  { id: "runs", title: "Runs", key: "4", load: () => import("./rooms/runs.js") },
  { id: "file", title: "Your file", key: "5", load: () => import("./rooms/file.js") },
];

const nav = part("rooms");
const main = part("room");
const status = part("status");
const gone = part("gone");

/** The room on stage, and what it told the frame. */
const stage = {
  id: "",
  turn: 0,
  /** @type {Mounted | null} */ mounted: null,
  caption: "",
  /** @type {(() => Figure[])[]} */ figures: [],
  /** @type {Shortcut[]} */ shortcuts: [],
};
/** How each room was left. @type {Map<string, Flat>} */
const left = new Map();

const journey = new Journey((place) => {
  if (known(place.room) === stage.id && stage.mounted) stage.mounted.restore(place.state);
  else void open(place.room);
});

/** @param {string} id */
function known(id) {
  return ROOMS.some((room) => room.id === id) ? id : "home";
}

/** @param {string} id */
async function open(id) {
  const entry = ROOMS.find((room) => room.id === known(id));
  if (!entry) return;
  if (journey.place.room !== entry.id) {
    journey.place = { room: entry.id, state: {} };
    journey.write();
  }
  const turn = ++stage.turn;
  stage.mounted?.unmount();
  Object.assign(stage, { id: entry.id, mounted: null, caption: "", figures: [], shortcuts: [] });
  for (const link of nav.querySelectorAll("a")) {
    if (link.dataset.room === entry.id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = entry.id === "home" ? "regard: see where a model looks" : `${entry.title} · regard`;
  document.body.dataset.room = entry.id;
  const host = h("div", { class: `room room-${entry.id}` });
  replace(main, host);
  const late = setTimeout(() => host.childElementCount || replace(host, h("p", { class: "empty" }, "Opening …")), 200);
  try {
    const { room } = await entry.load();
    if (turn !== stage.turn) return;
    clearTimeout(late);
    replace(host);
    const mounted = await room.mount(host, context(turn));
    if (turn !== stage.turn) mounted.unmount();
    else {
      stage.mounted = mounted;
      guide(part("guide"), entry.id === "build");
    }
  } catch (error) {
    clearTimeout(late);
    if (turn === stage.turn) broken(host, entry.title, error);
  }
}

/** @param {number} turn @returns {Context} */
function context(turn) {
  const here = () => turn === stage.turn;
  return {
    api,
    state: {
      get: () => journey.place.state,
      // A room that has been left may still be waiting for an answer; it must not write over the next one.
      set: (patch, options) => void (here() && journey.set(patch, options)),
    },
    toast,
    caption: (text) => void (here() && (stage.caption = text)),
    register: ({ figures, shortcuts }) => {
      if (!here()) return;
      if (figures) stage.figures.push(figures);
      if (shortcuts) stage.shortcuts.push(...shortcuts);
    },
    go,
  };
}

/** @param {string} room @param {Flat} [state] */
function go(room, state) {
  left.set(stage.id, journey.place.state);
  journey.go({ room, state: state ?? left.get(room) ?? {} });
  void open(room);
}

/** @param {HTMLElement} host @param {string} title @param {unknown} error */
function broken(host, title, error) {
  const why = error instanceof Error ? error.message : String(error);
  replace(
    host,
    h(
      "section",
      { class: "empty", role: "alert" },
      h("h2", null, `${title} did not open`),
      h("p", null, why),
      h("p", null, "Look whether ", h("code", null, "regard explore"), " is still running, then try again."),
      h("button", { class: "button", onclick: () => void open(stage.id) }, "Try again"),
    ),
  );
}

/** @param {string} message @param {"note" | "error"} [kind] */
function toast(message, kind = "note") {
  const note = h("div", { class: `toast toast-${kind}` }, message);
  bringForward(status);
  status.append(note);
  setTimeout(() => note.remove(), kind === "error" ? 9000 : 3500);
}

async function copyLink() {
  journey.write();
  try {
    await navigator.clipboard.writeText(location.href);
    toast("Link copied: it opens exactly this.");
  } catch {
    toast("The browser keeps its clipboard closed; copy the address from the address bar.", "error");
  }
}

function showExport() {
  openExport(
    stage.figures.flatMap((figures) => figures()),
    { caption: stage.caption, room: stage.id, toast },
  );
}

/** @type {(Shortcut & {run: () => void})[]} */
const SHORTCUTS = [
  ...ROOMS.map(({ id, title, key }) => ({ key, does: `Open ${title}`, run: () => go(id) })),
  { key: "Ctrl+Z", does: "Undo", run: () => journey.undo() },
  { key: "Ctrl+Shift+Z", does: "Redo", run: () => journey.redo() },
  { key: "c", does: "Copy the link to this very state", run: () => void copyLink() },
  { key: "e", does: "Export figures and numbers", run: showExport },
  { key: "t", does: "Light or dark", run: toggleTheme },
  { key: "?", does: "This help", run: () => openHelp(SHORTCUTS, stage.shortcuts) },
];

/** @param {KeyboardEvent} event */
function pressed(event) {
  const target = event.target instanceof Element ? event.target : null;
  const field = target?.closest("input:not([type=range],[type=checkbox],[type=radio]), textarea, select");
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const command = event.ctrlKey || event.metaKey;
  if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
  if (command && (name === "z" || name === "y")) {
    // Text being written has its own undo; a number cell has ours.
    if (field && !field.matches("[data-undo]")) return;
    event.preventDefault();
    if (name === "y" || event.shiftKey) journey.redo();
    else journey.undo();
    return;
  }
  if (field || command) return;
  if (name.startsWith("Arrow") && target?.matches("input[type=range], input[type=radio]")) return; // they move by these keys
  const shortcut = [...stage.shortcuts, ...SHORTCUTS].find(({ key, run }) => run && key.toLowerCase() === name.toLowerCase());
  if (!shortcut?.run) return;
  event.preventDefault();
  shortcut.run(event);
}

/** A file dropped anywhere is meant for the room that reads files. @param {DragEvent} event */
async function dropped(event) {
  const file = event.dataTransfer?.files[0];
  if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  if (event.type !== "drop" || !file) return;
  journey.go({ room: "file", state: {} });
  await open("file");
  const carried = new DataTransfer();
  carried.items.add(file);
  main.firstElementChild?.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, cancelable: true }));
}

/** @param {boolean} here */
function heard(here) {
  if (here || !gone.hidden) return;
  gone.hidden = false;
  void api.returned().then(() => {
    gone.hidden = true;
    toast("The server is back.");
    if (!stage.mounted || !["home", "build"].includes(stage.id)) void open(stage.id);
  });
}

/** @param {string} id @returns {HTMLElement} */
function part(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no part #${id}`);
  return element;
}

function start() {
  applyTheme();
  replace(
    nav,
    ROOMS.slice(1).map(({ id, title, key }) =>
      h(
        "a",
        {
          href: `#/${id}`,
          dataset: { room: id },
          "aria-keyshortcuts": key,
          onclick: (/** @type {MouseEvent} */ event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            go(id);
          },
        },
        title,
        h("kbd", { "aria-hidden": "true" }, key),
      ),
    ),
  );
  part("undo").addEventListener("click", () => journey.undo());
  part("redo").addEventListener("click", () => journey.redo());
  part("link").addEventListener("click", () => void copyLink());
  part("export").addEventListener("click", showExport);
  part("theme").addEventListener("click", toggleTheme);
  part("help").addEventListener("click", () => openHelp(SHORTCUTS, stage.shortcuts));
  journey.changed = () => {
    part("undo").toggleAttribute("disabled", journey.at === 0);
    part("redo").toggleAttribute("disabled", journey.at >= journey.last);
  };
  journey.changed();
  addEventListener("keydown", pressed);
  addEventListener("dragover", dropped);
  addEventListener("drop", dropped);
  api.watch(heard);
  document.addEventListener("guide", () => (stage.id === "build" ? guide(part("guide"), true, true) : go("build")));
  void open(journey.place.room);
}

start();
