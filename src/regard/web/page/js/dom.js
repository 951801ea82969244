/** Elements in one expression. Text is always set as text, so no data can become markup. */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Props */

const NAMESPACES = {
  svg: "http://www.w3.org/2000/svg",
  math: "http://www.w3.org/1998/Math/MathML",
};

/**
 * An HTML element: `h("button", {class: "quiet", onclick: run}, "Run")`.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, props, ...children) {
  const element = /** @type {SVGElementTagNameMap[T]} */ (document.createElementNS(NAMESPACES.svg, tag));
  return fill(element, props, children);
}

/**
 * A MathML element.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {MathMLElement}
 */
export function math(tag, props, ...children) {
  const element = /** @type {MathMLElement} */ (document.createElementNS(NAMESPACES.math, tag));
  return fill(element, props, children);
}

/**
 * Set what is named: `onclick` listens, `style` and `dataset` take objects, `false` and `null` take an attribute away.
 * @template {Element} E
 * @param {E} element
 * @param {Props | null} [props]
 * @returns {E}
 */
export function set(element, props) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (name === "style") {
      // Through the object model: the content policy forbids style attributes.
      for (const [key, each] of Object.entries(/** @type {object} */ (value))) {
        /** @type {HTMLElement} */ (/** @type {unknown} */ (element)).style.setProperty(key, String(each));
      }
    } else if (name === "dataset") {
      for (const [key, each] of Object.entries(/** @type {object} */ (value))) {
        element.setAttribute(`data-${key}`, String(each));
      }
    } else if (name === "value" && element instanceof HTMLInputElement) {
      element.value = String(value);
    } else if (value === false || value === null || value === undefined) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  return element;
}

/**
 * Put children in place of whatever is there.
 * @template {Element} E
 * @param {E} element
 * @param {...(Child | Child[])} children
 * @returns {E}
 */
export function replace(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Props | null | undefined} props
 * @param {(Child | Child[])[]} children
 * @returns {E}
 */
function fill(element, props, children) {
  element.append(...nodes(children));
  return set(element, props);
}

/** @param {(Child | Child[])[]} children @returns {(Node | string)[]} */
function nodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}
