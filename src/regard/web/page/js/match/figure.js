/** The table of pictures and texts, drawn to be taken away. */

import { ink, weight } from "../color.js";
import { svg } from "../dom.js";
import { SANS, drawing, inks, measure } from "../views/paint.js";

const [WIDE, TALL, NAME] = [110, 72, 150];

/** @param {string[]} images @param {string[]} names @param {string[]} texts @param {number[][]} numbers */
export function figure(images, names, texts, numbers) {
  const colours = inks();
  const slanted = Math.max(40, ...texts.map((each) => measure(each, `13px ${SANS}`))) * 0.5 + 20;
  const flat = numbers.flat();
  const [least, most] = [Math.min(0, ...flat), Math.max(1e-9, ...flat)];
  const out = drawing(NAME + texts.length * WIDE + 60, slanted + names.length * TALL);
  texts.forEach((text, j) =>
    out.append(
      svg("text", { x: 0, y: 0, fill: colours.ink, transform: `translate(${NAME + j * WIDE + 30} ${slanted - 10}) rotate(-30)` }, text),
    ),
  ); // prettier-ignore
  names.forEach((name, i) => {
    const y = slanted + i * TALL;
    out.append(svg("image", { x: 0, y, width: TALL - 4, height: TALL - 4, href: images[i] ?? "" }));
    out.append(svg("text", { x: TALL + 4, y: y + TALL / 2 + 4, fill: colours.ink }, name));
    (numbers[i] ?? []).forEach((value, j) => {
      const fill = weight((value - least) / (most - least));
      const x = NAME + j * WIDE;
      out.append(svg("rect", { x, y, width: WIDE - 3, height: TALL - 3, rx: 4, fill }));
      out.append(svg("text", { x: x + WIDE / 2, y: y + TALL / 2 + 4, "text-anchor": "middle", fill: ink(fill) }, value.toFixed(2))); // prettier-ignore
    });
  });
  return out;
}
