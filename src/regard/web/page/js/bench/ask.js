/** The one question: a model, an input, options and edits; words come while it is answered, and giving up ends it. */

import { ApiError, aborted, reason } from "../api.js";

/** @typedef {import("./answer.js").Answer} Answer */
/** What is told before the answer: who waits, what is opened, which words there are.
 * @typedef {{event: "queued", before: number} | {event: "loading", model: string} | {event: "step", done: number, of: number | null, text?: string, what?: string, image?: string}} Told */
/** @typedef {{signal?: AbortSignal, progress?: (told: Told) => void}} Options */

const GONE = "The server does not answer; start it again with regard explore.";

/** @param {typeof import("../api.js")} api @param {Record<string, unknown>} request @param {Options} [options] @returns {Promise<Answer>} */
export async function ask(api, request, { signal, progress } = {}) {
  const response = await sent(api, request, signal);
  try {
    for await (const told of events(response)) {
      if (told.event === "answer") return told;
      if (told.event === "error") throw new ApiError(String(told.error), Number(told.status) || 500);
      progress?.(told);
    }
  } catch (error) {
    if (error instanceof ApiError || aborted(error)) throw error;
    await lost(api);
  }
  throw new ApiError("The answer broke off; ask again.", 503);
}

/** @param {typeof import("../api.js")} api @param {Record<string, unknown>} request @param {AbortSignal | undefined} signal */
async function sent(api, request, signal) {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) };
  /** @type {Response} */
  let response;
  try {
    response = await fetch("api/ask", { ...init, signal: signal ?? null, credentials: "same-origin" });
  } catch (error) {
    if (aborted(error)) throw error;
    return lost(api);
  }
  if (!response.ok) throw new ApiError(await reason(response), response.status);
  return response;
}

/** The frame is told by a question of its own. @param {typeof import("../api.js")} api @returns {Promise<never>} */
async function lost(api) {
  await api.get("/api/about").catch(() => {});
  throw new ApiError(GONE, 0);
}

/** One JSON a line, as they come. @param {Response} response @returns {AsyncGenerator<any>} */
async function* events(response) {
  const reader = response.body?.getReader();
  const letters = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    rest += done ? letters.decode() : letters.decode(value, { stream: true });
    const lines = rest.split("\n");
    rest = done ? "" : (lines.pop() ?? "");
    for (const line of lines) if (line.trim()) yield JSON.parse(line);
    if (done) return;
  }
}
