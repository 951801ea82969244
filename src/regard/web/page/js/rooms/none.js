/** A room that has no model yet: what to run to get one. */

import { h, replace } from "../dom.js";

/** @typedef {{title: string, says: string, commands: string[]}} Start */

/** @param {HTMLElement} host @param {Start} start */
export function none(host, { title, says, commands }) {
  replace(
    host,
    h(
      "section",
      { class: "empty" },
      h("h2", null, title),
      h("p", null, says),
      commands.map((each) => h("code", null, each)),
    ),
  );
  return { restore() {}, unmount() {} };
}
