/** A room that has no model yet: what to run to get one. */

import { h, replace } from "../dom.js";

/** @param {HTMLElement} host @param {string} title @param {string} says @param {...string} commands */
export function none(host, title, says, ...commands) {
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
