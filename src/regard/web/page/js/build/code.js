/** The lines of the library that compute a step, as the running server has them. */

import { get } from "../api.js";
import { h, replace } from "../dom.js";

/** @typedef {{name: string, path: string, first: number, code: string}} Source */

/** @type {Map<string, Promise<Source>>} */
const asked = new Map();

/**
 * Show one piece of code, its deciding lines marked.
 * @param {HTMLElement} host
 * @param {{name: string, mark: string[], from?: string}} part
 */
export async function showCode(host, { name, mark, from }) {
  if (host.dataset.name !== name) replace(host); // no step stands beside the code of another
  host.dataset.name = name;
  const question = asked.get(name) ?? get("/api/source", { params: { name } });
  asked.set(name, question);
  try {
    const source = await question;
    if (host.dataset.name === name) replace(host, lines(source, mark, from));
  } catch {
    asked.delete(name);
    if (host.dataset.name !== name) return;
    const file = `regard/${name.split(".").slice(0, 2).join("/")}.py`;
    replace(
      host,
      h(
        "p",
        { class: "quiet" },
        "Computed by ",
        h("code", null, name.split(".").slice(2).join(".")),
        " in ",
        h("code", null, file),
        "; start ",
        h("code", null, "regard explore"),
        " to see the lines here.",
      ),
    );
  }
}

/** The first line and the marked ones; the rest on demand. @param {Source} source @param {string[]} mark @param {string} [from] */
function lines({ path, first, code }, mark, from) {
  const whole = code.split("\n");
  const start = from
    ? Math.max(
        0,
        whole.findIndex((line) => line.includes(from)),
      )
    : 0;
  const kept = trimmed(whole.slice(start));
  const body = h("code");
  const more = h("button", {
    "aria-expanded": "false",
    onclick: () => show(more.getAttribute("aria-expanded") === "false"),
  });
  /** @param {boolean} all */
  function show(all) {
    const marked = kept.map((line) => mark.some((each) => line.includes(each)));
    const visible = kept.map((_, i) => all || i === 0 || marked[i]);
    replace(
      body,
      kept.flatMap((line, i) => {
        if (visible[i]) return h("span", { class: marked[i] ? "line marked" : "line" }, line || " ");
        return visible[i - 1] ? h("span", { class: "line" }, `${/^\s*/.exec(line)?.[0] ?? ""}…`) : [];
      }),
    );
    more.setAttribute("aria-expanded", String(all));
    more.textContent = all ? "only what matters" : "all lines";
    more.hidden = kept.length <= 3;
  }
  show(kept.length <= 3);
  return [
    h("div", { class: "code-head" }, h("p", { class: "code-file" }, `${path}, line ${first + start}`), more),
    h("pre", { tabindex: 0, "aria-label": `Code of ${path}` }, body),
  ];
}

/** Without the common indentation and the empty end. @param {string[]} lines */
function trimmed(lines) {
  const full = lines.filter((line) => line.trim());
  const indent = Math.min(...full.map((line) => line.length - line.trimStart().length));
  const last = lines.findLastIndex((line) => line.trim());
  return lines.slice(0, last + 1).map((line) => line.slice(indent));
}
