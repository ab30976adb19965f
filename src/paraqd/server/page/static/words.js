// Numbers, times and names as people read them.

const integers = new Intl.NumberFormat("en");
const times = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export const count = (number) => integers.format(number ?? 0);
export const plural = (number, noun, several = `${noun}s`) => `${count(number)} ${number === 1 ? noun : several}`;
export const percent = (share) => `${(100 * share).toFixed(share > 0.995 && share < 1 ? 1 : 0)}%`;

/** Write a score with two digits and a real minus sign. */
export function score(number) {
  return number === null || number === undefined ? "–" : Number(number).toFixed(2).replace("-", "−");
}

export function time(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.valueOf()) ? String(iso ?? "") : times.format(date);
}

export const DECISIONS = { valid: "Valid", review: "Check by hand", invalid: "Invalid", error: "Not scored" };
export const STATUSES = { open: "Open", accepted: "Accepted", rejected: "Rejected", disputed: "Disputed", mine: "Mine" };
export const DECISION_ICONS = { valid: "accept", invalid: "reject", review: "review", error: "error" };
export const FAULTS = [
  "number_lost", "number_added", "number_changed", "unit_changed", "entity_changed", "question_lost",
  "question_changed", "relation_changed", "content_lost", "content_added", "incoherent",
];

/** Decide a score as the server does. */
export function decide(number, threshold, band) {
  if (number === null || number === undefined) return "error";
  if (band && number >= band[0] && number <= band[1]) return "review";
  return number > threshold ? "valid" : "invalid";
}

/** Return the name of a fault, from the code shared with the report. */
export function faultName(kind) {
  return globalThis.PairView?.faultName(kind) ?? kind.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
}
