/** A picture read into memory: as it is, its pixels, and their first channel. */

import { address } from "../api.js";

/** @typedef {{size: number, grey: Uint8Array, data: Uint8ClampedArray, whole: HTMLCanvasElement}} Picture */

/** @param {string} href as the server names it, or the picture itself as a data URL @returns {Promise<Picture>} */
export async function load(href) {
  const image = new Image();
  const [path = "", query] = href.split("?");
  image.src = href.startsWith("data:") ? href : address(path, new URLSearchParams(query));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen?.drawImage(image, 0, 0);
  const data = pen?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
  const grey = Uint8Array.from({ length: data.length / 4 }, (_, k) => data[k * 4] ?? 0);
  return { size: canvas.width, grey, data, whole: canvas };
}
