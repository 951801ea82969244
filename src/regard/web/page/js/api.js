/** Questions to the server: typed answers, errors that say what to do, and word of when it is gone. */

/** @typedef {{signal?: AbortSignal, params?: Record<string, unknown>}} Options */
/** @typedef {{version: string, models: Array<Record<string, any>>, limits: Record<string, number>, folder: string | null} & Record<string, any>} About */

/** Whether this is a site of files without a server behind it. */
export const STATIC = document.documentElement.dataset["static"] !== undefined;

/** What the server refused, in its own words. */
export class ApiError extends Error {
  /** @param {string} message @param {number} status */
  constructor(message, status) {
    super(message);
    this.name = "ApiError";
    this.status = status; // 0: nobody answered
  }

  /** The queue is full: the same question will do in a moment. */
  get busy() {
    return this.status === 429;
  }

  /** What was kept for this page has been forgotten: ask again. */
  get expired() {
    return this.status === 410;
  }
}

/** @type {(here: boolean) => void} */
let told = () => {};

/** Be told when the server goes and when it is back. @param {(here: boolean) => void} listener */
export function watch(listener) {
  told = listener;
}

/** @param {string} path @param {Options} [options] @returns {Promise<any>} */
export async function get(path, options) {
  return (await ask(path, {}, options)).json();
}

/** @param {string} path @param {unknown} body @param {Options} [options] @returns {Promise<any>} */
export async function post(path, body, options) {
  const headers = { "Content-Type": "application/json" };
  return (await ask(path, { method: "POST", headers, body: JSON.stringify(body) }, options)).json();
}

/** A file as it is. @param {string} path @param {Blob} body @param {Options} [options] @returns {Promise<any>} */
export async function send(path, body, options) {
  return (await ask(path, { method: "POST", body }, options)).json();
}

/** Numbers as they are, and the headers that describe them.
 * @param {string} path @param {Options} [options] @returns {Promise<{data: ArrayBuffer, headers: Headers}>} */
export async function bytes(path, options) {
  const response = await ask(path, {}, options, ".bin");
  return { data: await response.arrayBuffer(), headers: response.headers };
}

/** @type {Promise<About> | null} */
let known = null;

/** Models, limits and version; asked once. @returns {Promise<About>} */
export function about() {
  known ??= get("/api/about").catch((error) => {
    known = null;
    throw error;
  });
  return known;
}

/** Wait until the server answers again. @param {number} [every] milliseconds */
export async function returned(every = 2000) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, every));
    try {
      await ask("/api/about", { cache: "no-store" });
      return;
    } catch (error) {
      if (error instanceof ApiError && error.status) return;
    }
  }
}

/** A request given up on purpose is no error to show. @param {unknown} error */
export function aborted(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** @param {string} path @param {RequestInit} init @param {Options} [options] @param {string} [ending]
 * @returns {Promise<Response>} */
async function ask(path, init, { signal, params } = {}, ending = ".json") {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params ?? {})) {
    if (value !== null && value !== undefined) query.set(key, String(value));
  }
  /** @type {Response} */
  let response;
  try {
    response = await fetch(address(path, query, ending), {
      ...init,
      signal: signal ?? null,
      credentials: "same-origin",
    });
  } catch (error) {
    if (aborted(error)) throw error;
    if (!STATIC) told(false);
    throw new ApiError("The server does not answer; start it again with regard explore.", 0);
  }
  told(true);
  if (STATIC && response.status === 404)
    throw new ApiError(
      "This site has no server, and this was not written into it; pip install regard for the rest.",
      404,
    );
  if (!response.ok) throw new ApiError(await reason(response), response.status);
  return response;
}

/** Where an answer is, below the page itself, which may lie anywhere: at the server, or in the file that was written of it.
 * @param {string} path @param {URLSearchParams} [query] @param {string} [ending] of the file, where the path has none */
export function address(path, query = new URLSearchParams(), ending = ".json") {
  const below = path.replace(/^\//, "");
  if (!STATIC) return new URL(below + (query.size ? `?${query}` : ""), document.baseURI).href;
  query.sort();
  const [, stem = below, own = ending] = below.match(/^(.*)(\.[a-z0-9]+)$/) ?? [];
  return new URL(stem + (query.size ? `/${query}` : "") + own, document.baseURI).href;
}

/** @param {Response} response @returns {Promise<string>} */
export async function reason(response) {
  try {
    const said = await response.json();
    if (typeof said.error === "string") return said.error;
  } catch {
    // Not ours: the number must do.
  }
  return `The server answered ${response.status} ${response.statusText}.`.replace(" .", ".");
}
