/** The frame: it opens the room that the address names, and gives every room the same tools. */

import * as api from "./api.js";
import { h, replace } from "./dom.js";
import { openExport } from "./export.js";
import { guide } from "./guide.js";
import { openHelp } from "./help.js";
import { keyboard } from "./keys.js";
import { openModels } from "./models.js";
import { OPEN, navigation } from "./navigation.js";
import { openPalette } from "./palette.js";
import { ROOMS, roomOf } from "./rooms/index.js";
import { copy, openShare } from "./share.js";
import { bringForward } from "./sheet.js";
import { Journey } from "./state.js";
import { applyTheme, toggleTheme } from "./theme.js";

/** @typedef {import("./state.js").Flat} Flat */
/** @typedef {import("./state.js").SetOptions} SetOptions */
/** @typedef {import("./export.js").Figure} Figure */
/** @typedef {{key: string, does: string, run?: (event: KeyboardEvent) => void}} Shortcut */
/** The same as what is seen, to be pasted elsewhere. @typedef {{python?: string, command?: string}} Code */
/** @typedef {{figures?: () => Figure[], shortcuts?: Shortcut[], code?: () => Code}} Registered */

/**
 * What a room is given.
 * @typedef {object} Context
 * @property {typeof api} api questions to the server
 * @property {{get: () => Flat, set: (patch: Flat, options?: SetOptions) => void}} state what the link holds
 * @property {(message: string, kind?: "note" | "error") => void} toast a word in passing
 * @property {(text: string) => void} caption what stands under an exported figure: model, input, layer, head
 * @property {(what: Registered) => void} register what can be exported, pressed and pasted
 * @property {(room: string, state?: Flat) => void} go open another room
 * @property {{open: (tasks: string[] | undefined, chosen: (name: string) => void) => void}} models the sheet of models
 */
/** @typedef {{restore: (state: Flat) => void, unmount: () => void}} Mounted */
/** @typedef {{id: string, title: string, mount: (host: HTMLElement, context: Context) => Mounted | Promise<Mounted>}} Room */

const HOME = { id: "home", title: "Home", load: () => import("./rooms/home.js") };

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
  /** @type {() => Code} */ code: () => ({}),
};
/** How each room was left. @type {Map<string, Flat>} */
const left = new Map();

const journey = new Journey((place) => {
  if (known(place.room) === stage.id && stage.mounted) stage.mounted.restore(place.state);
  else void open(place.room);
});
const shown = navigation(part("areas"), part("rooms"), go);

/** @param {string} id */
function known(id) {
  return OPEN.some((room) => room.id === id) ? id : "home";
}

/** @param {{title: string}} room */
function refuse({ title }) {
  toast(`${title} needs a server: pip install regard, then regard explore.`, "error");
}

/** @param {string} id */
async function open(id) {
  const entry = OPEN.find((room) => room.id === known(id)) ?? HOME;
  const wanted = ROOMS.find((room) => room.id === id);
  if (wanted && wanted.id !== entry.id) refuse(wanted); // a link from an explorer with a server
  if (journey.place.room !== entry.id) {
    journey.place = { room: entry.id, state: {} };
    journey.write();
  }
  const turn = ++stage.turn;
  stage.mounted?.unmount();
  Object.assign(stage, { id: entry.id, mounted: null, caption: "", figures: [], shortcuts: [], code: () => ({}) });
  shown(entry.id);
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
    register: ({ figures, shortcuts, code }) => {
      if (!here()) return;
      if (figures) stage.figures.push(figures);
      if (shortcuts) stage.shortcuts.push(...shortcuts);
      if (code) stage.code = code;
    },
    go,
    models: { open: (tasks, chosen) => void openModels({ tasks, chosen }) },
  };
}

/** @param {string} room @param {Flat} [state] */
function go(room, state) {
  left.set(stage.id, journey.place.state);
  journey.go({ room, state: state ?? left.get(room) ?? {} });
  void open(room);
}

/** Open a model in the room of its task. @param {Record<string, any>} model */
function openModel(model) {
  const room = roomOf(model["task"]);
  if (room?.server && api.STATIC) refuse(room);
  else if (room) go(room.id, { m: model["name"] });
  else toast(`No room opens models that ${model["task"] ?? "do nothing that their card names"}.`, "error");
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
  return note;
}

function share() {
  journey.write();
  openShare({ code: stage.code(), toast });
}

function copyLink() {
  journey.write();
  void copy(location.href, toast, "Link copied: it opens exactly this.");
}

function showExport() {
  openExport(
    stage.figures.flatMap((figures) => figures()),
    { caption: stage.caption, room: stage.id, toast },
  );
}

/** What was last said of the presentation. @type {HTMLElement | undefined} */
let presented;

/** Only the room, as large as the screen allows; again to come back. */
function present() {
  const on = document.body.toggleAttribute("data-present");
  if (on) void document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) void document.exitFullscreen();
  presented?.remove();
  presented = toast(on ? "Presentation: F leaves it." : "Back to the whole page.");
}

/** @type {(Shortcut & {run: () => void})[]} */
const SHORTCUTS = [
  { key: "g h", does: "Open Home", run: () => go("home") },
  ...ROOMS.map(({ id, title, key }) => ({ key: `g ${key}`, does: `Open ${title}`, run: () => go(id) })),
  { key: "Ctrl+K", does: "Find a room, a model or a command", run: () => palette() },
  { key: "Ctrl+Z", does: "Undo", run: () => journey.undo() },
  { key: "Ctrl+Shift+Z", does: "Redo", run: () => journey.redo() },
  { key: "c", does: "Copy the link to this very state", run: copyLink },
  { key: "e", does: "Export figures and numbers", run: showExport },
  { key: "F", does: "Presentation mode", run: present },
  { key: "t", does: "Light or dark", run: toggleTheme },
  { key: "?", does: "This help", run: () => openHelp(SHORTCUTS, stage.shortcuts) },
];

function palette() {
  const commands = SHORTCUTS.filter(({ key }) => !key.startsWith("g ") && key !== "Ctrl+K");
  void openPalette({ go, commands, openModel });
}

/** A file dropped anywhere is meant for the room that reads files. @param {DragEvent} event */
async function dropped(event) {
  const file = event.dataTransfer?.files[0];
  if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  if (event.type !== "drop" || !file) return;
  const room = file.type.startsWith("image/") && !api.STATIC ? "see" : "file";
  journey.go({ room, state: {} });
  await open(room);
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
    if (!stage.mounted || ROOMS.find(({ id }) => id === stage.id)?.server) void open(stage.id);
  });
}

/** @param {string} id @returns {HTMLElement} */
function part(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no part #${id}`);
  return element;
}

async function start() {
  applyTheme();
  document.body.toggleAttribute("data-embed", new URLSearchParams(location.search).get("embed") === "1");
  const clicks = {
    undo: () => journey.undo(),
    redo: () => journey.redo(),
    link: share,
    export: showExport,
    theme: toggleTheme,
    find: palette,
    models: () => void openModels({ chosen: (_, model) => openModel(model) }),
    help: () => openHelp(SHORTCUTS, stage.shortcuts),
  };
  for (const [id, run] of Object.entries(clicks)) part(id).addEventListener("click", run);
  journey.changed = () => {
    part("undo").toggleAttribute("disabled", journey.at <= journey.floor);
    part("redo").toggleAttribute("disabled", journey.at >= journey.last);
  };
  journey.changed();
  keyboard({
    everywhere: SHORTCUTS,
    here: () => stage.shortcuts,
    undo: () => journey.undo(),
    redo: () => journey.redo(),
  });
  addEventListener("dragover", dropped);
  addEventListener("drop", dropped);
  api.watch(heard);
  document.addEventListener("guide", () => (stage.id === "build" ? guide(part("guide"), true, true) : go("build")));
  // Pictures measure their words, so the letters come first; a page whose fonts are slow does not wait for them.
  await Promise.race([document.fonts.load('1em "regard text"'), new Promise((resolve) => setTimeout(resolve, 400))]);
  void open(journey.place.room);
}

void start();
