// Single keys that act on the whole page. They rest while somebody types, and can be turned off.

import { recall, remember } from "./memory.js";

export const KEYS = [
  ["a", "Accept the paraphrase and go on"],
  ["r", "Reject the paraphrase and go on"],
  ["s", "Skip: go on without a decision (also the space bar)"],
  ["j", "Next pair in the list"],
  ["k", "Previous pair in the list"],
  ["u", "Undo your last saved decision"],
  ["y", "Redo it (also Shift + U)"],
  ["n", "Write a note"],
  ["d", "Show or hide the differing words"],
  ["p", "Suggest paraphrases of the question"],
  ["/", "Search"],
  ["?", "Show this list"],
];

export const keysAreOn = () => recall("keys", "on") === "on";
export const turnKeys = (on) => remember("keys", on ? "on" : "off");

const TYPING = "input:not([type=checkbox], [type=radio], [type=range], [type=button]), textarea, select, [contenteditable]";
const PRESSED_BY_SPACE = "button, summary, a, input, [role=button]";

/** Call the action of a key. `actions` maps keys to functions. Return a function that ends it. */
export function listenToKeys(actions) {
  const listener = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") || event.target.closest?.(TYPING)) return;
    if (!keysAreOn() && event.key !== "?") return;
    let key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.key === " ") {
      if (event.target.closest?.(PRESSED_BY_SPACE)) return;
      key = "s";
    }
    if (event.shiftKey && key === "u") key = "y";
    if (event.repeat && !["j", "k"].includes(key)) return; // a key held down decides once
    const action = actions[key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  document.addEventListener("keydown", listener);
  return () => document.removeEventListener("keydown", listener);
}
