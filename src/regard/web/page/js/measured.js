/** What was measured, under the names of the field, and rounded in one way wherever the page shows it. */

/** @type {Record<string, string>} */
const NAMES = {
  bleu: "BLEU",
  bleu_lower: "BLEU, lower case",
  chrf: "chrF",
  chrf_lower: "chrF, lower case",
  val_loss: "Validation loss",
  loss: "Loss",
  perplexity: "Perplexity",
  "pseudo-perplexity": "Pseudo-perplexity",
  bits_per_byte: "Bits per byte",
  bits_per_character: "Bits per character",
  exact: "Exact, %",
  exact_without_pronouns: "Exact without pronouns, %",
  alignment_error: "Alignment error, %",
  accuracy: "Accuracy, %",
  "test exact": "Exact, %",
  "test attributes": "Attributes, %",
  "test pointing": "Pointing, %",
  "test bleu4": "BLEU-4",
  "test cider": "CIDEr-D × 100",
  "test image to text R@1": "Image to text R@1, %",
  "test text to image R@1": "Text to image R@1, %",
  ap: "AP",
  ap50: "AP at IoU 0.5",
  ap75: "AP at IoU 0.75",
  "top 1": "Top 1, %",
  "top 5": "Top 5, %",
  "analogies accuracy": "Analogies, %",
  "analogies accuracy_with_inputs": "Analogies with inputs, %",
  "wordsim spearman": "WordSim, Spearman × 100",
  "simlex spearman": "SimLex, Spearman × 100",
};
const WISHES = new Set(["beam", "length_penalty"]); // how it was measured
const FINE = /loss|perplexity|bits/; // these are no points of a hundred: three digits tell them apart

/** The name of a metric. @param {string} metric */
export const metricName = (metric) => NAMES[metric] ?? metric.replaceAll("_", " ");

/** A value as the page writes it: one decimal; three digits of losses, and of what is small and unknown to us.
 * @param {string} metric @param {number} value */
export function metricValue(metric, value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const fine = FINE.test(metric) || (!(metric in NAMES) && size < 1);
  if (!fine || size === 0) return rounded(value, 1);
  return rounded(value, Math.max(0, 2 - Math.floor(Math.log10(size))));
}

/** Both in one: `BLEU 41.2`, `Accuracy 82.4 %`. @param {string} metric @param {number} value */
export function metricText(metric, value) {
  const [, name = "", unit = ""] = metricName(metric).match(/^(.*?)(?:,( %))?$/) ?? [];
  return `${name} ${metricValue(metric, value)}${unit}`;
}

/** The numbers of a card, without what is none; of what was measured on several sets, the test comes first.
 * @param {unknown} measured @returns {[string, number][]} */
export function metricsOf(measured) {
  const all = Object.entries(measured && typeof measured === "object" ? measured : {});
  const numbers = all.filter((pair) => typeof pair[1] === "number" && Number.isFinite(pair[1]) && !WISHES.has(pair[0]));
  const [test, val] = ["test ", "val "].map((set) => numbers.filter(([key]) => key.startsWith(set)));
  return test?.length ? [...test, ...numbers.filter((pair) => !test.includes(pair) && !val?.includes(pair))] : numbers;
}

/** Those that a model is told by: one that writes small letters is not to be blamed for each capital. @param {Record<string, any>} model */
export function metricsTold({ measured, lower }) {
  const other = lower ? ["bleu", "chrf"] : ["bleu_lower", "chrf_lower"];
  return metricsOf(measured).filter(([key]) => !other.includes(key));
}

/**
 * A number with so many decimals; halves go to the even digit. The decimal number that a card states is rounded, not
 * the binary one nearest to it: 41.15 is written 41.2, though the machine holds a little less.
 * @param {number} value @param {number} decimals
 */
export function rounded(value, decimals) {
  const parts = String(Math.abs(value)).match(/^(\d+)(?:\.(\d+))?$/);
  if (!parts) return value.toFixed(decimals); // 1e-9 and the like
  const [, whole = "0", part = ""] = parts;
  const [kept, rest] = [part.slice(0, decimals).padEnd(decimals, "0"), part.slice(decimals)];
  let digits = BigInt(whole + kept);
  if (rest > "5" || (rest === "5" && digits % 2n === 1n)) digits += 1n;
  const text = String(digits).padStart(decimals + 1, "0");
  const sign = value < 0 && digits > 0n ? "−" : "";
  return sign + (decimals ? `${text.slice(0, -decimals)}.${text.slice(-decimals)}` : text);
}
