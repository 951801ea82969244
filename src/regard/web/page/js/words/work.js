/** Give work to a worker of its own, be told how far it is, and end it when it is no longer wanted. */

/** @typedef {{tell?: (part: any) => void, signal?: AbortSignal, seconds?: number}} Terms */

/** @param {string} job @param {Record<string, unknown>} given @param {Terms} [terms] @returns {Promise<any>} */
export function work(job, given, { tell, signal, seconds } = {}) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve, reject) => {
    const late = seconds && setTimeout(() => reject(new Error("too long")), seconds * 1000);
    signal?.addEventListener("abort", () => reject(new DOMException("no longer wanted", "AbortError")));
    worker.addEventListener("error", (event) => reject(new Error(event.message || "the worker did not start")));
    worker.addEventListener("message", ({ data }) => {
      if ("part" in data) tell?.(data.part);
      else if ("error" in data) reject(new Error(data.error));
      else resolve(data.found);
      if (!("part" in data)) clearTimeout(late);
    });
    worker.postMessage({ job, given });
  }).finally(() => worker.terminate());
}
