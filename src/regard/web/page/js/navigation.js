/** The way through the house: areas above, the rooms of the area below. */

import { STATIC } from "./api.js";
import { h, replace } from "./dom.js";
import { AREAS, ROOMS } from "./rooms/index.js";

/** The rooms that can be entered here. */
export const OPEN = ROOMS.filter((room) => !(STATIC && room.server));

/** @param {HTMLElement} areas @param {HTMLElement} rooms @param {(room: string) => void} go
 * @returns {(room: string) => void} to be told where one is */
export function navigation(areas, rooms, go) {
  /** The room of each area in which one was last. @type {Map<string, string>} */
  const last = new Map();

  /** @param {string} id @param {string} title @param {boolean} current @param {string} [says] */
  const link = (id, title, current, says) =>
    h(
      "a",
      {
        href: `#/${id}`,
        "aria-current": current && "page",
        title: says,
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          go(id);
        },
      },
      title,
    );

  return (room) => {
    const here = OPEN.find(({ id }) => id === room)?.area;
    if (here) last.set(here, room);
    replace(
      areas,
      AREAS.map((area) => {
        const first = OPEN.find((each) => each.area === area.id);
        return link(last.get(area.id) ?? first?.id ?? "home", area.title, area.id === here, area.says);
      }),
    );
    rooms.hidden = !here;
    replace(
      rooms,
      OPEN.filter(({ area }) => area === here).map(({ id, title, says }) => link(id, title, id === room, says)),
    );
    const current = rooms.querySelector("[aria-current]");
    // On a phone the row is longer than the screen, and the room that one is in may lie beyond its edge.
    if (current instanceof HTMLElement)
      rooms.scrollLeft = current.offsetLeft - (rooms.clientWidth - current.offsetWidth) / 2;
  };
}
