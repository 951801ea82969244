/** Match: pictures × texts. Which text says what a picture shows, under the world's shifts too; and search by a sentence. */

import { room as bench } from "../bench/room.js";
import { answer, onStage } from "../match/answer.js";
import { input } from "../match/input.js";
import { ask, code, opening } from "../match/wishes.js";

export const room = bench({
  id: "match",
  title: "Match",
  tasks: ["match"],
  none: {
    title: "No model that matches pictures and texts yet",
    says: "Train one on the little world in a few minutes, then start again with it; or give a folder of CLIP or SigLIP:",
    commands: ["regard train match --out runs/match", "regard explore --model runs/match"],
  },
  examples: () => [],
  figures: () => [...onStage].flatMap((each) => each.figures()),
  wish: ({ host, folder }) => ({
    input: (place, hands) => input(place, hands, host, folder),
    answer,
    ask,
    empty: { title: "Nothing to compare", says: "Add a picture, and write one text a line." },
    opening,
    code,
  }),
});
