/** A picture read into memory: as it is, its pixels, and their first channel. */

/** @typedef {{size: number, grey: Uint8Array, data: Uint8ClampedArray, whole: HTMLCanvasElement}} Picture */

/** @param {string} href @returns {Promise<Picture>} */
export async function load(href) {
  const image = new Image();
  image.src = href;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen?.drawImage(image, 0, 0);
  const data = pen?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
  const grey = Uint8Array.from({ length: data.length / 4 }, (_, k) => data[k * 4] ?? 0);
  return { size: canvas.width, grey, data, whole: canvas };
}
