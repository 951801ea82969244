/** Gallery: pictures worth a look, each a link to the live one. */

import { STATIC } from "../api.js";
import { badge } from "../claims/list.js";
import { h, replace } from "../dom.js";
import { ROOMS } from "./index.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {{name: string, title: string, says: string, room: string, address: string, picture: string | null, claim: {name: string, verdict: string | null} | null}} Entry */

export const room = { id: "gallery", title: "Gallery", mount };

/** @param {HTMLElement} host @param {Context} context */
async function mount(host, context) {
  const entries = /** @type {Entry[]} */ (await context.api.get("/api/gallery"));
  replace(
    host,
    h(
      "header",
      { class: "deck-top" },
      h("h1", null, "Gallery"),
      h("p", null, "Pictures worth a look. Each opens live: drag it, change it, take it apart, and the link follows."),
    ),
    h("ul", { class: "gallery" }, entries.map(card)),
  );
  context.caption("The gallery of the explorer");
  return { restore() {}, unmount() {} };
}

/** @param {Entry} entry */
function card(entry) {
  const room = ROOMS.find(({ id }) => id === entry.room);
  const away = STATIC && room?.server;
  return h(
    "li",
    { class: "gallery-card" },
    h(
      "a",
      away ? null : { href: entry.address },
      entry.picture
        ? h("img", { src: entry.picture, alt: "", loading: "lazy", width: 640, height: 400 })
        : h("span", { class: "gallery-blank", "aria-hidden": "true" }, room?.title ?? entry.room),
      h("h2", null, entry.title),
    ),
    h("p", null, entry.says),
    h(
      "p",
      { class: "gallery-foot" },
      h("span", { class: "quiet" }, room?.title ?? entry.room, away && ", needs regard explore"),
      entry.claim &&
        h(
          "a",
          {
            class: "gallery-claim",
            href: `#/claims?name=${encodeURIComponent(entry.claim.name)}&show=1`,
            "aria-label": `The claim ${entry.claim.name}: ${entry.claim.verdict ?? "not run yet"}`,
          },
          badge(entry.claim.verdict),
        ),
    ),
  );
}
