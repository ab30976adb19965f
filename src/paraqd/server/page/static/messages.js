// Tell people what happened: to the eye with a short message in a corner, to a screen reader in a live region.

import { h } from "./dom.js";

const region = (id) => document.getElementById(id);

/** Say something to a screen reader only. */
export function say(text) {
  const polite = region("polite");
  polite.textContent = "";
  setTimeout(() => (polite.textContent = text), 30); // a text that does not change is not read again
}

/** Show a message for a few seconds. */
export function tell(text) {
  show(text, "toast", 5000);
  say(text);
}

/** Show a message about something that went wrong. */
export function warn(error) {
  const text = error instanceof Error ? error.message : String(error);
  show(text, "toast toast-bad", 10000);
  region("urgent").textContent = text;
}

function show(text, style, milliseconds) {
  const toast = h("p", { class: style }, text);
  region("toasts").append(toast);
  setTimeout(() => toast.remove(), milliseconds);
}
