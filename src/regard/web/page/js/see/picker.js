/** Which picture: a scene of the world by its number, a bundled photograph, or a file of your own. */

import { ApiError, address, get } from "../api.js";
import { h } from "../dom.js";
import { refill } from "../rooms/refill.js";
import { scene } from "./wishes.js";

const BYTES = 20 * 2 ** 20;
const SCENES = 1000;

/** @param {HTMLElement} host @param {{choose: (picture: string, undo?: boolean | string) => void, toast: import("../app.js").Context["toast"]}} tools */
export function create(host, { choose, toast }) {
  /** @type {string[]} */
  let photos = [];
  let now = "";
  const file = h("input", {
    type: "file",
    accept: "image/*",
    class: "unseen",
    "aria-label": "Choose a picture",
    onchange: () => void take(file.files?.[0]),
  });
  const choices = h("div", { class: "see-choices" });
  host.append(choices, file);
  void get("/api/pictures/photos").then(
    (found) => {
      photos = found;
      update(now);
    },
    () => {},
  );

  /** @param {string} picture */
  function update(picture) {
    now = picture;
    const index = scene(picture);
    const number = h("input", {
      type: "number",
      min: 0,
      max: SCENES - 1,
      value: index ?? 7,
      "aria-label": "Number of the scene",
      onchange: () => walk(Number(number.value)),
    });
    refill(
      choices,
      h(
        "div",
        { class: "see-scene", "data-on": index !== null },
        button("‹", "Scene before", () => walk((index ?? 7) - 1)),
        h("label", { class: "pick" }, "scene", number),
        button("›", "Next scene", () => walk((index ?? 6) + 1)),
        button("Any", "Any scene", () => walk(Math.floor(Math.random() * SCENES))),
      ),
      h(
        "div",
        { class: "see-photos", role: "group", "aria-label": "Photographs" },
        photos.map((name) =>
          h(
            "button",
            {
              type: "button",
              "aria-label": `Photograph: ${name}`,
              "aria-pressed": String(picture === `photo:${name}`),
              onclick: () => choose(`photo:${name}`),
            },
            h("img", { src: address(`photos/${name}.jpg`), alt: "", width: 48, height: 48 }),
          ),
        ),
      ),
      h("button", { type: "button", class: "button", onclick: () => file.click() }, "Your picture …"),
      h("p", { class: "quiet" }, "Or drop or paste one. It stays on this machine."),
    );
  }

  /** @param {number} index */
  const walk = (index) => choose(`world:${(Math.round(index) + SCENES) % SCENES || 0}`, "scene");

  /** @param {File | null | undefined} given */
  async function take(given) {
    file.value = "";
    if (!given) return;
    try {
      if (given.size > BYTES)
        throw new Error(
          `${given.name} has ${Math.ceil(given.size / 2 ** 20)} MB; at most 20 can be sent, so save it smaller.`,
        );
      const response = await fetch(address("/api/pictures"), {
        method: "POST",
        body: given,
        credentials: "same-origin",
      });
      const said = await response.json();
      if (!response.ok) throw new ApiError(String(said.error ?? response.statusText), response.status);
      if (said.note) toast(said.note);
      choose(said.picture);
    } catch (error) {
      toast(
        error instanceof TypeError
          ? "The server does not answer; start it again with regard explore."
          : error instanceof Error
            ? error.message
            : String(error),
        "error",
      );
    }
  }

  /** Files that are dropped onto the room, or pasted. @param {HTMLElement} room @param {AbortSignal} signal */
  function listen(room, signal) {
    const dropped = (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      if (event.type === "drop") void take(event.dataTransfer?.files[0]);
    };
    room.addEventListener("dragover", dropped, { signal });
    room.addEventListener("drop", dropped, { signal });
    addEventListener("paste", (event) => void take([...(event.clipboardData?.files ?? [])][0]), { signal });
  }
  return { update, take, listen };
}

/** The address of a picture as it was given. @param {string} picture @param {string} truth of a scene */
export function shown(picture, truth) {
  if (picture.startsWith("photo:")) return address(`photos/${encodeURIComponent(picture.slice(6))}.jpg`);
  return truth || (/^[0-9a-f]{64}$/.test(picture) ? address(`/api/pictures/${picture}.png`) : "");
}

/** @param {string} text @param {string} label @param {() => void} run */
const button = (text, label, run) =>
  h("button", { type: "button", class: "button", "aria-label": label, onclick: run }, text);
