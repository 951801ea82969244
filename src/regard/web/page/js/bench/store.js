/** Files that were opened, kept in this browser by their hash, so that a link to one opens it again here. */

const [SHELF, FILES, WHEN] = ["regard", "files", "when"];
const MOST = 12; // the oldest goes

/** @param {string} text @returns {Promise<string>} */
export async function hashed(text) {
  const bytes = new TextEncoder().encode(text);
  if (!crypto.subtle) return plain(bytes); // a page that was not fetched safely has no other
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest.subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** FNV-1a, twice. @param {Uint8Array} bytes */
function plain(bytes) {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (const byte of bytes) [a, b] = [Math.imul(a ^ byte, 0x01000193), Math.imul(b ^ byte, 0x85ebca6b)];
  return [a, b].map((each) => (each >>> 0).toString(16).padStart(8, "0")).join("");
}

/** @returns {Promise<IDBDatabase>} */
function shelf() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(SHELF, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(FILES);
      opening.result.createObjectStore(WHEN);
    };
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Keep a file; in a browser that keeps nothing, a link to it opens nothing. @param {string} hash @param {string} text @returns {Promise<boolean>} was it kept? */
export async function keep(hash, text) {
  try {
    const all = await shelf();
    const moment = all.transaction([FILES, WHEN], "readwrite");
    const [files, when] = [moment.objectStore(FILES), moment.objectStore(WHEN)];
    files.put(text, hash);
    await done(when.put(Date.now(), hash));
    const [keys, times] = [await done(when.getAllKeys()), await done(when.getAll())];
    const old = keys.map((key, i) => ({ key, time: times[i] })).sort((a, b) => b.time - a.time).slice(MOST); // prettier-ignore
    for (const { key } of old) {
      files.delete(key);
      when.delete(key);
    }
    all.close();
    return true;
  } catch {
    return false;
  }
}

/** @param {string} hash @returns {Promise<string | null>} */
export async function find(hash) {
  try {
    const all = await shelf();
    const found = await done(all.transaction(FILES).objectStore(FILES).get(hash));
    all.close();
    return typeof found === "string" ? found : null;
  } catch {
    return null;
  }
}
