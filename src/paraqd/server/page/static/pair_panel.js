// One pair: the question above the paraphrase, why the model doubts it, what people decided, and the buttons.

import { reviewerName } from "./api.js";
import { button, h, icon, replace } from "./dom.js";
import { forget, recall, remember } from "./memory.js";
import { DECISIONS, DECISION_ICONS, STATUSES, count, decide, faultName, plural, score, time } from "./words.js";

/** Return who else is looking at a pair, or null. */
export const claimant = (pair) => (pair.claimed_by && pair.claimed_by !== reviewerName() ? pair.claimed_by : null);

const VOTES = { accept: "accepted", reject: "rejected" };

export class PairPanel {
  /** `on` has the functions decide(decision), skip(), previous(), undo(), redo(), saveNote(), suggest(), back(). */
  constructor(on) {
    this.on = on;
    this.pair = null;
    this.rule = null;
    this.diff = recall("diff", "on") === "on";
    this.build();
    globalThis.PairView.attachTips(this.texts);
  }

  build() {
    const { on } = this;
    this.head = h("div", { class: "pair-head" });
    this.claim = h("p", { class: "claim", hidden: true });
    this.question = h("p", { class: "problem-text", lang: "en" });
    this.paraphrase = h("p", { class: "problem-text", lang: "en" });
    this.diffSwitch = h("input", { type: "checkbox", role: "switch", checked: this.diff, onchange: () => this.setDiff(this.diffSwitch.checked) });
    this.texts = h(
      "div",
      { class: "texts pair-view" },
      h("section", { "aria-labelledby": "question-title" }, h("h3", { id: "question-title" }, "Question"), this.question),
      h("section", { "aria-labelledby": "paraphrase-title" }, h("h3", { id: "paraphrase-title" }, "Paraphrase"), this.paraphrase),
      h("label", { class: "switch" }, this.diffSwitch, h("span", {}, "Differing words"), h("kbd", { "aria-hidden": "true" }, "D")),
    );
    this.suggest = button("Suggest paraphrases", { key: "p", kind: "quiet small suggest", hidden: true, onclick: () => on.suggest() });
    this.why = h("section", { class: "why", "aria-labelledby": "why-title" });
    this.people = h("section", { class: "people", "aria-labelledby": "people-title" });
    this.note = h("textarea", {
      id: "note", rows: "2", maxlength: "2000", placeholder: "Why, or what to change",
      oninput: () => this.keepDraft(), onblur: (event) => this.actions.contains(event.relatedTarget) || on.saveNote(),
      onkeydown: (event) => {
        if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
          event.preventDefault();
          this.title.focus();
        }
      },
    });
    this.noteHint = h("span", { class: "hint", id: "note-hint" });
    this.note.setAttribute("aria-describedby", "note-hint");
    this.body = h(
      "div",
      { class: "pair-body" },
      this.claim, this.texts, this.suggest, this.why, this.people,
      h("div", { class: "note field" }, h("label", { for: "note", class: "field-name" }, "Note ", h("kbd", { "aria-hidden": "true" }, "N")), this.note, this.noteHint),
    );
    this.accept = button("Accept", { key: "a", symbol: "accept", kind: "accept", onclick: () => on.decide("accept") });
    this.reject = button("Reject", { key: "r", symbol: "reject", kind: "reject", onclick: () => on.decide("reject") });
    this.skip = button("Skip", { key: "s", symbol: "skip", onclick: () => on.skip() });
    this.undo = button("Undo", { key: "u", symbol: "undo", kind: "quiet", onclick: () => on.undo() });
    this.redo = button("Redo", { key: "y", symbol: "redo", kind: "quiet", onclick: () => on.redo() });
    this.actions = h(
      "div",
      { class: "actions", role: "toolbar", "aria-label": "Decide" },
      h("div", { class: "actions-main" }, this.reject, this.skip, this.accept),
      h("div", { class: "actions-more" }, this.undo, this.redo),
    );
    this.title = h("h2", { tabindex: "-1" });
    this.empty = h("div", { class: "pair-empty" });
    this.content = h("div", { class: "pair-content" }, this.head, this.body);
    this.element = h("section", { class: "pair-panel", "aria-label": "The pair" }, this.empty, this.content, this.actions);
    this.show(null);
  }

  /** Show a pair, or what to do where there is none. */
  show(pair, { message = null } = {}) {
    const other = pair?.n !== this.pair?.n;
    this.pair = pair;
    this.element.classList.toggle("is-empty", pair === null);
    this.content.hidden = pair === null;
    this.empty.hidden = pair !== null;
    for (const choice of [this.accept, this.reject, this.skip]) choice.disabled = pair === null;
    if (pair === null) {
      replace(this.empty, message ?? "");
      return;
    }
    if (other) this.note.value = recall(this.draftKey()) ?? pair.note ?? "";
    else if (document.activeElement !== this.note && recall(this.draftKey()) === null) this.note.value = pair.note ?? "";
    this.noteHint.textContent = "Saved when you leave the field.";
    this.drawHead();
    this.drawTexts();
    this.drawWhy();
    this.drawPeople();
    if (other) this.body.scrollTop = this.content.scrollTop = 0;
  }

  drawHead() {
    const { pair } = this;
    const decision = this.decision();
    const place = [
      pair.row !== null && pair.row !== undefined && `Row ${count(pair.row)}`,
      pair.id && `Id ${pair.id}`,
      pair.paraphrase_column && this.on.project().paraphrase_columns?.length > 1 && `Column ${pair.paraphrase_column}`,
    ].filter(Boolean);
    replace(this.title, `Pair ${count(pair.n)}`);
    const focused = document.activeElement === this.title;
    replace(
      this.head,
      h("button", { type: "button", class: "button quiet to-list", onclick: () => this.on.back() }, icon("back"), "List"),
      h(
        "div",
        { class: "pair-name" },
        this.title,
        pair.copies > 1 && h("span", { class: "copies", title: `This pair stands ${pair.copies} times in the file. One decision counts for all.` }, `× ${pair.copies}`),
        h("p", { class: "place" }, place.join(" · ")),
      ),
      h(
        "div",
        { class: "verdict", "data-decision": decision },
        h("span", { class: "badge" }, icon(DECISION_ICONS[decision]), DECISIONS[decision]),
        h("span", { class: "big-score" }, h("span", { class: "hidden-text" }, "Score "), score(pair.score)),
      ),
    );
    if (focused) this.title.focus();
    const other = claimant(pair);
    this.claim.hidden = !other;
    replace(this.claim, icon("eye"), `${other} is looking at this pair`);
    for (const [choice, vote] of [[this.accept, "accept"], [this.reject, "reject"]]) {
      choice.classList.toggle("is-chosen", pair.my_vote === vote);
      choice.setAttribute("aria-pressed", pair.my_vote === vote ? "true" : "false");
    }
  }

  drawTexts() {
    const { question, paraphrase } = globalThis.PairView.render(this.pair, { diff: this.diff });
    replace(this.question, question);
    replace(this.paraphrase, this.pair.paraphrase.trim() ? paraphrase : h("em", { class: "hint" }, "The paraphrase is blank."));
  }

  drawWhy() {
    const { pair } = this;
    const pieces = (pair.evidence ?? []).map((piece, index) =>
      h(
        "li",
        { onpointerenter: () => this.light(index, true), onpointerleave: () => this.light(index, false) },
        h("span", { class: "fault" }, faultName(piece.kind)),
        h("span", {}, piece.message),
      ),
    );
    replace(
      this.why,
      h("h3", { id: "why-title" }, pair.error ? "Not scored" : "Why"),
      pair.error && h("p", { class: "problem" }, pair.error),
      pieces.length ? h("ul", { class: "reasons" }, pieces) : !pair.error && h("p", { class: "hint" }, pair.score === null ? "Waiting for a score." : "The model found nothing wrong."),
      (pair.warnings ?? []).map((warning) => h("p", { class: "warning" }, warning)),
    );
  }

  drawPeople() {
    const { pair } = this;
    const me = reviewerName();
    const others = (pair.votes ?? []).filter((vote) => vote.reviewer !== me).map((vote) =>
      h(
        "li",
        {},
        h("span", { class: `status status-${VOTES[vote.decision] ?? "open"}` }, VOTES[vote.decision] ?? "no decision"),
        ` by ${vote.reviewer}`,
        vote.at && h("time", { datetime: vote.at, class: "hint" }, ` ${time(vote.at)}`),
        vote.note && h("q", {}, vote.note),
      ),
    );
    const mine = pair.my_vote && button("Take back my decision", { kind: "quiet small", onclick: () => this.on.decide("none") });
    this.people.hidden = !others.length && pair.status === "open" && !pair.my_vote;
    replace(
      this.people,
      h("h3", { id: "people-title" }, "Decisions"),
      h("p", { class: "decided" }, h("span", { class: `status status-${pair.status}` }, STATUSES[pair.status]), pair.my_vote && ` You ${VOTES[pair.my_vote]} it. `, mine),
      others.length > 0 && h("ul", { class: "votes" }, others),
      pair.my_vote && pair.status === "open" && h("p", { class: "hint" }, "One more person decides on this pair."),
    );
  }

  decision() {
    const { pair, rule } = this;
    return (rule ? decide(pair.score, rule.threshold, rule.review) : pair.decision) ?? "error";
  }

  /** Show the verdict that another threshold would give. Null ends the trial. */
  tryRule(rule) {
    this.rule = rule;
    if (this.pair) this.drawHead();
  }

  light(index, on) {
    for (const mark of this.texts.querySelectorAll("mark.ev")) {
      if (mark.dataset.evidence.split(" ").includes(String(index))) mark.classList.toggle("ev-active", on);
    }
  }

  setDiff(on) {
    this.diff = on;
    this.diffSwitch.checked = on;
    remember("diff", on ? "on" : "off");
    if (this.pair) this.drawTexts();
  }

  setSteps(undo, redo) {
    this.undo.disabled = !undo;
    this.redo.disabled = !redo;
    this.undo.title = undo ? `${plural(undo, "step")} can be undone` : "Nothing to undo";
    this.redo.title = redo ? `${plural(redo, "step")} can be redone` : "Nothing to redo";
  }

  // A note that is not saved yet outlives a reload.
  draftKey() {
    return `note.${this.on.project().id}.${this.pair?.n}`;
  }

  keepDraft() {
    if (this.changedNote() === undefined) forget(this.draftKey());
    else remember(this.draftKey(), this.note.value);
  }

  /** Return the note, or undefined if it is unchanged. */
  changedNote() {
    const text = this.note.value.trim();
    return text === (this.pair?.note ?? "").trim() ? undefined : text;
  }

  /** Return the note to save now, or undefined if it is unchanged. The draft ends here. */
  takeNote() {
    const text = this.changedNote();
    forget(this.draftKey());
    return text;
  }

  /** Say in one sentence what is shown. */
  sentence() {
    const { pair } = this;
    const faults = (pair.evidence ?? []).map((piece) => faultName(piece.kind)).join(", ");
    const claim = claimant(pair) ? ` ${claimant(pair)} is looking at this pair.` : "";
    return `Pair ${pair.n}. ${DECISIONS[this.decision()]}, score ${score(pair.score)}. ${faults}${faults ? ". " : ""}${STATUSES[pair.status]}.${claim}`;
  }
}
