// How far a project is: the progress of the scorer, and what to say where no pair is shown.

import { h, icon, replace } from "./dom.js";
import { say } from "./messages.js";
import { count, percent, plural } from "./words.js";

export class ScoringBar {
  constructor() {
    this.state = null;
    this.element = h("div", { class: "scoring", hidden: true });
  }

  show({ state, scored, total, error }) {
    this.element.hidden = state === "ready";
    if (state === "failed") replace(this.element, h("p", { class: "problem", role: "alert" }, error || "Scoring stopped. Look at the server's messages."));
    if (state === "scoring") {
      replace(
        this.element,
        h("label", { for: "scoring-progress" }, `Scored ${count(scored)} of ${count(total)}`),
        h("span", { class: "hint" }, percent(total ? scored / total : 0)),
        h("progress", { id: "scoring-progress", max: total || 1, value: scored }),
      );
    }
    if (this.state === "scoring" && state === "ready") say(`All ${plural(total, "pair")} are scored.`);
    this.state = state;
  }
}

/** Say why no pair is shown. `shown` is the length of the list, `left` how many of its pairs wait. */
export function emptyMessage(project, shown, left = 0) {
  const line = (title, text) => h("div", { class: "done" }, h("p", { class: "done-title" }, title), h("p", {}, text));
  if (project.state === "scoring" && !project.scored) return line("Scoring", "The first verdicts appear in a moment.");
  if (!shown) return line("No pair matches", "Clear a filter or change the search.");
  const [is, it] = left === 1 ? ["is", "it"] : ["are", "them"];
  if (left) return line("Others are at work", `${plural(left, "pair")} of this list ${is} open, and somebody else is looking at ${it}.`);
  const done = line("All decided", "No pair of this list waits for you. Choose a pair to look at it again, or export the result.");
  done.prepend(icon("saved"));
  return done;
}
