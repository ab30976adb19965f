// The review of a project: list at one side, pair at the other. Decisions go through the outbox.

import { addressOf, filterOf, isFiltered, readAddress } from "./address.js";
import { api, isPassing, reviewerName } from "./api.js";
import { knownName } from "./dialogs.js";
import { button, h, replace } from "./dom.js";
import { FilterBar } from "./filter_bar.js";
import { showProject } from "./header.js";
import { listenToKeys } from "./keys.js";
import { say, tell, warn } from "./messages.js";
import { outbox } from "./outbox.js";
import { PairList } from "./pair_list.js";
import { PairPanel, claimant } from "./pair_panel.js";
import { askDecideAll, showHelp } from "./project_dialogs.js";
import { ScoringBar, emptyMessage } from "./scoring_bar.js";
import { ThresholdPanel } from "./threshold_panel.js";
import { showSuggestions } from "./suggestions.js";
import { boundsFor } from "./trial.js";
import { count, plural } from "./words.js";

const narrow = matchMedia("(max-width: 799px)");
const WHILE_SCORING = 700; // milliseconds between two questions to the server
const WHILE_READY = 5000;
const UNSAVED = "Wait until your decisions are saved.";
const STATUS_OF = { accept: "accepted", reject: "rejected", none: "open" };

export class Review {
  constructor(main, project, view) {
    Object.assign(this, { main, project, view, id: project.id });
    this.moving = null; // the promise of the next pair, while it is on its way
    this.leaving = null; // the number of the pair that is being left
    this.opened = 0; // how often a pair was opened
    this.trial = null;
    this.closed = false;
    this.filters = new FilterBar((changes, options) => this.filter(changes, options));
    this.thresholds = new ThresholdPanel({ try: (rule) => this.tryRule(rule), save: (rule) => this.saveRule(rule), suggest: () => this.suggest() });
    this.list = new PairList({
      fetchBlock: (offset, limit) => this.block(offset, limit),
      onSelect: (pair, index) => this.open(pair, { claim: index }),
      onTotal: () => this.drawTotal(),
    });
    this.panel = new PairPanel({
      project: () => this.project,
      decide: (decision) => this.decide(decision),
      skip: () => this.goOn(this.panel.pair),
      undo: () => this.step("undo"),
      redo: () => this.step("redo"),
      saveNote: () => this.saveNote(),
      suggest: () => this.suggestParaphrases(),
      back: () => this.toList(),
    });
    this.build();
  }

  /** Show a project. Return the review, or null if somebody went elsewhere before the project was here. */
  static async start(main, view, isWanted) {
    const project = await api.project(view.project);
    if (!isWanted()) return null;
    const review = new Review(main, project, view);
    review.setProject(project);
    review.filters.setView(view);
    outbox.listener = review;
    outbox.retry();
    void review.begin();
    return review;
  }

  async begin() {
    if (!reviewerName()) void knownName().then(() => this.firstPair());
    await Promise.all([this.showView(), this.refreshScores(), this.offerSuggestions()]).catch(warn);
    void this.watch();
  }

  build() {
    this.scoring = new ScoringBar();
    this.totalText = h("h2", { class: "list-total", "aria-live": "polite" });
    this.clear = button("Clear filters", { kind: "quiet small", onclick: () => this.clearFilters() });
    this.all = button("Decide all…", { kind: "small", onclick: () => this.decideAll() });
    this.thresholds.element.open = !narrow.matches && innerHeight >= 760;
    replace(
      this.main,
      h(
        "div",
        { class: "review" },
        h(
          "section",
          { class: "list-column", "aria-label": "Pairs" },
          this.scoring.element,
          h("div", { class: "list-tools" }, this.filters.element, this.thresholds.element),
          h("div", { class: "list-head" }, this.totalText, this.clear, this.all),
          this.list.root,
          h("div", { class: "start-review" }, button("Start reviewing", { kind: "primary", symbol: "skip", onclick: () => this.goOn(null) })),
        ),
        this.panel.element,
      ),
    );
    this.main.classList.add("main-review");
    this.stopKeys = listenToKeys({
      a: () => this.decide("accept"),
      r: () => this.decide("reject"),
      s: () => this.goOn(this.panel.pair),
      j: () => this.move(1),
      k: () => this.move(-1),
      u: () => this.step("undo"),
      y: () => this.step("redo"),
      d: () => this.panel.setDiff(!this.panel.diff),
      n: () => this.panel.pair && this.panel.note.focus(),
      p: () => this.suggestParaphrases(),
      "/": () => this.filters.search.focus(),
      "?": () => showHelp(),
    });
  }

  close() {
    this.closed = true;
    if (outbox.listener === this) outbox.listener = null;
    clearTimeout(this.timer);
    clearTimeout(this.soon);
    this.stopKeys();
    this.main.classList.remove("main-review", "shows-pair");
  }

  // --- the view and its address -----------------------------------------------------------------------------------

  setView(changes, { push = false } = {}) {
    this.view = { ...this.view, ...changes };
    history[push ? "pushState" : "replaceState"](null, "", addressOf(this.view));
    this.filters.setView(this.view);
    this.main.classList.toggle("shows-pair", this.view.pair !== null);
  }

  /** Show what the address says: after opening, and when somebody goes back or forward. */
  async showView(view = this.view) {
    this.view = view;
    this.filters.setView(view);
    this.main.classList.toggle("shows-pair", view.pair !== null);
    this.list.selected = view.pair;
    const isLeft = () => this.view !== view; // somebody went elsewhere in the meantime
    await this.list.load({ around: view.at ?? 0 });
    if (isLeft()) return undefined;
    if (view.pair === null) return this.firstPair();
    try {
      const pair = this.loaded(view.pair) ?? (await api.pair(this.id, view.pair));
      if (!isLeft()) this.open(pair, { quiet: true, claim: this.list.chosen });
    } catch (error) {
      if (isLeft()) return undefined;
      warn(error);
      this.setView({ pair: null, at: null });
      await this.firstPair();
    }
    return undefined;
  }

  /** Open a pair if none is open. On a phone the list comes first. */
  async firstPair() {
    if (this.panel.pair && this.view.pair === this.panel.pair.n) return;
    this.panel.show(null, { message: emptyMessage(this.project, this.list.total) });
    if (narrow.matches || !reviewerName()) return;
    if (this.list.total) await this.goOn(null, { quiet: true });
  }

  async filter(changes, { typing = false } = {}) {
    this.setView({ ...changes, pair: narrow.matches ? null : this.view.pair, at: null }, { push: !(typing && this.searching) });
    this.searching = typing;
    this.list.element.scrollTop = 0;
    if (!(await this.list.load()) || narrow.matches) return;
    const index = Math.max(0, this.list.chosen);
    const pair = this.list.at(index);
    if (!pair) this.showNone();
    else if (pair.n === this.panel.pair?.n) this.list.select(pair.n);
    else this.open(pair, { quiet: true, claim: index });
  }

  clearFilters() {
    this.filters.search.value = "";
    return this.filter({ q: "", decision: [], fault: [], status: [], low: null, high: null });
  }

  toList() {
    this.setView({ pair: null, at: null });
    this.panel.show(null);
    this.list.element.focus();
  }

  loaded(n) {
    return this.list.selected === n && this.list.chosen >= 0 ? this.list.at(this.list.chosen) : null;
  }

  /** Return the filter of the list; a threshold that is being tried takes part in it. */
  listFilter() {
    return this.trial ? boundsFor(filterOf(this.view), this.trial) : filterOf(this.view);
  }

  async block(offset, limit) {
    const answer = await api.pairs(this.id, this.listFilter(), offset, limit);
    return { ...answer, pairs: answer.pairs.map((pair) => this.current(pair)) };
  }

  // --- moving through the pairs -----------------------------------------------------------------------------------

  /** Show a pair. `claim` is its place in the list, if it shall be claimed for this reviewer. */
  open(given, { claim = null, quiet = false } = {}) {
    const pair = this.current(given);
    const fromList = this.view.pair === null;
    this.opened += 1;
    this.list.select(pair.n);
    this.panel.show(pair);
    this.setView({ pair: pair.n, at: this.list.chosen >= 0 ? this.list.chosen : null }, { push: fromList && narrow.matches });
    if (!quiet) say(this.panel.sentence());
    if (claim !== null) void this.claim(pair, claim);
  }

  /** Claim an open pair. The server hands out the first free pair behind another one, so name the one before it. */
  async claim(pair, index) {
    if (index < 0 || pair.my_vote || pair.status !== "open" || claimant(pair) || !pair.decision || !reviewerName()) return;
    const before = index > 0 ? this.list.at(index - 1) : null;
    if (index > 0 && !before) return;
    try {
      await api.next(this.id, this.waitingFilter(), before?.n ?? null);
    } catch {
      // A claim is a courtesy to others: the pair can be decided without.
    }
  }

  waitingFilter() {
    const filter = filterOf(this.view);
    return { ...filter, status: filter.status ?? "open" };
  }

  /** Go to the next pair that waits for this reviewer. A second press before it is shown does nothing. */
  async goOn(from, { quiet = false } = {}) {
    if ((from && from.n === this.leaving) || !(await knownName())) return;
    while (this.moving) await this.moving;
    this.leaving = from?.n ?? null;
    this.moving = this.goOnNow(from, quiet).finally(() => {
      this.moving = this.leaving = null;
    });
    await this.moving;
  }

  async goOnNow(from, quiet) {
    const before = this.opened;
    this.list.aim = null; // the last key counts: this one, or a step that is asked for from now on
    const isBusy = () => this.opened !== before || this.list.aim !== null || document.activeElement === this.panel.note;
    try {
      const isSaved = await outbox.settled();
      if (isBusy()) return undefined; // somebody chose a pair or began a note in the meantime
      if (!isSaved) return this.goOnAlone(from);
      const { pair, left } = await api.next(this.id, this.waitingFilter(), from?.n ?? null);
      if (isBusy()) return undefined;
      if (!pair) return this.showNone(left);
      return pair.n === from?.n ? tell("This is the only pair left.") : this.open(pair, { quiet });
    } catch (error) {
      return isPassing(error) ? this.goOnAlone(from) : warn(error);
    }
  }

  /** Go on without the server, among the pairs that are here. */
  goOnAlone(from) {
    for (let index = this.list.chosen + 1; index < this.list.total; index++) {
      const pair = this.list.at(index);
      if (!pair) break;
      if (pair.n !== from?.n && !pair.my_vote && pair.status === "open") return this.open(pair);
    }
    return warn("The next pairs are not loaded, and the server does not answer. Your decisions are kept in this browser.");
  }

  move(step) {
    const index = this.list.place < 0 ? 0 : this.list.place + step;
    if (index >= 0 && index < this.list.total) void this.list.go(index);
    else say(step > 0 ? "End of the list" : "Beginning of the list");
  }

  showNone(left = 0) {
    this.setView({ pair: null, at: null });
    this.list.select(null);
    const message = emptyMessage(this.project, this.list.total, left);
    this.panel.show(null, { message });
    say(message.textContent);
  }

  // --- decisions --------------------------------------------------------------------------------------------------

  async decide(decision) {
    const shown = this.panel.pair;
    if (!shown || shown.n === this.leaving) return;
    const reviewer = await knownName();
    const { pair } = this.panel;
    if (!reviewer || pair?.n !== shown.n) return;
    const note = decision === "none" ? undefined : this.panel.takeNote();
    if (pair.my_vote !== decision || note !== undefined) this.post(pair, decision, note, reviewer);
    if (decision !== "none") await this.goOn(pair);
  }

  post(pair, decision, note, reviewer) {
    const before = { my_vote: pair.my_vote, status: pair.status, note: pair.note };
    outbox.add({ project: this.id, pair: pair.n, decision, note, reviewer, before });
    this.replacePair(this.current(pair));
  }

  /** Return a pair as it will be when this reviewer's waiting decisions are saved. */
  current(pair) {
    const waiting = outbox.entriesOf(this.id, reviewerName()).filter((entry) => entry.pair === pair.n);
    return waiting.reduce((before, { decision, note }) => {
      const vote = decision === "none" ? null : decision;
      const status = this.project.votes_needed === 1 && vote !== before.my_vote ? STATUS_OF[decision] : before.status;
      return { ...before, my_vote: vote, status, note: note ?? (vote ? before.note : "") };
    }, pair);
  }

  /** Show a pair that changed wherever it is shown. */
  replacePair(pair) {
    this.list.patch(pair);
    if (this.panel.pair?.n === pair.n) this.panel.show({ ...this.panel.pair, ...pair });
  }

  async saveNote() {
    const shown = this.panel.pair;
    if (!shown || this.panel.changedNote() === undefined) return;
    const reviewer = await knownName();
    const { pair } = this.panel;
    if (!reviewer || pair?.n !== shown.n) return; // the draft stays
    const note = this.panel.takeNote();
    if (note !== undefined) this.post(pair, this.current(pair).my_vote ?? "none", note, reviewer);
  }

  onSaved(entry, answer) {
    if (entry.project !== this.id) return;
    if (entry.reviewer === reviewerName()) {
      this.replacePair(this.current(answer.pair));
      this.setSteps(answer);
    }
    this.refreshSoon();
  }

  onRefused(entry) {
    if (entry.project === this.id) this.refreshSoon();
  }

  async step(kind) {
    const reviewer = await knownName();
    if (!reviewer) return;
    while (this.moving) await this.moving;
    if (!(await outbox.settled())) {
      const taken = kind === "undo" ? outbox.takeBack(this.id, reviewer) : null;
      if (taken) this.replacePair({ n: taken.pair, ...taken.before });
      tell(taken ? `Taken back before it was saved: pair ${taken.pair}` : UNSAVED);
      return;
    }
    try {
      const answer = await api[kind](this.id);
      this.setSteps(answer);
      const done = kind === "undo" ? "Undone" : "Redone";
      tell(answer.changed.length ? `${done}: ${answer.changed.length === 1 ? `pair ${answer.changed[0]}` : plural(answer.changed.length, "pair")}` : `Nothing to ${kind}.`);
      await this.refresh();
      if (answer.changed.length) this.open(await api.pair(this.id, answer.changed[0]), { quiet: true });
    } catch (error) {
      warn(error);
      this.refreshSoon(); // perhaps only the answer was lost
    }
  }

  async decideAll() {
    if (!(await knownName())) return;
    if (!(await outbox.settled())) return void tell(UNSAVED);
    const answer = await askDecideAll(this.id, filterOf(this.view), this.view, this.list.total);
    if (!answer) return;
    tell(`${plural(answer.changed, "decision")} saved. Undo takes all of them back.`);
    this.setSteps(answer);
    await this.refresh();
    const { pair } = this.panel;
    if (pair) this.replacePair(this.current(await api.pair(this.id, pair.n)));
  }

  // --- suggestions ------------------------------------------------------------------------------------------------

  /** Show the button if this server writes paraphrases. */
  async offerSuggestions() {
    this.panel.suggest.hidden = !(await api.model()).max_paraphrases;
  }

  async suggestParaphrases() {
    const { pair } = this.panel;
    if (!pair || this.panel.suggest.hidden) return;
    await showSuggestions(pair, (text) => this.useSuggestion(pair, text));
  }

  /** Add a suggestion to the project, and return what was done; null if nobody gave a name. */
  async useSuggestion(pair, text) {
    if (!(await knownName())) return null;
    const answer = await api.addParaphrase(this.id, pair.n, text);
    this.setSteps(answer);
    this.refreshSoon();
    return answer.new ? `Added as pair ${count(answer.pair.n)}. You accepted it.` : `The project has it already: pair ${count(answer.pair.n)}.`;
  }

  setSteps({ undo, redo }) {
    this.panel.setSteps(undo, redo);
  }

  // --- threshold --------------------------------------------------------------------------------------------------

  tryRule(rule) {
    this.trial = rule;
    this.list.tryRule(rule);
    this.panel.tryRule(rule);
    this.filters.setCounts({ decisions: { ...this.project.counts, ...this.thresholds.counts() } });
    if (!this.view.decision.length) return;
    clearTimeout(this.trialTimer);
    this.trialTimer = setTimeout(() => this.trial && this.list.load(), 120);
  }

  async saveRule(rule) {
    try {
      if (!(await knownName())) return;
      this.setProject(await api.change(this.id, rule));
      say(`Threshold saved. ${plural(this.project.counts.valid, "valid pair")}.`);
    } catch (error) {
      this.thresholds.setProject(this.project);
      warn(error);
    } finally {
      clearTimeout(this.trialTimer);
      this.trial = null;
      this.list.tryRule(null);
      this.panel.tryRule(null);
      await this.refresh();
      const { pair } = this.panel;
      if (pair) this.replacePair(this.current(await api.pair(this.id, pair.n).catch(() => pair)));
    }
  }

  async suggest() {
    try {
      this.thresholds.showAdvice(await api.suggestion(this.id));
    } catch (error) {
      warn(error);
    }
  }

  // --- what others and the scorer change --------------------------------------------------------------------------

  async watch() {
    if (this.closed) return;
    try {
      if (!document.hidden) await this.refresh();
    } catch (error) {
      if (error.status === 404) {
        warn("The project was deleted.");
        location.assign(location.pathname);
        return;
      }
    }
    this.timer = setTimeout(() => this.watch(), this.project.state === "scoring" ? WHILE_SCORING : WHILE_READY);
  }

  refreshSoon() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.refresh().catch(() => undefined), 150);
  }

  async refresh() {
    const before = this.project;
    const project = await api.project(this.id);
    if (this.closed) return;
    this.setProject(project);
    const changed = ["scored", "state", "threshold"].some((name) => before[name] !== project[name]) || before.review?.join() !== project.review?.join();
    if (changed) await this.refreshScores();
    if (this.trial) return;
    await this.list.refresh();
    const { pair } = this.panel;
    const fresh = pair && this.loaded(pair.n);
    if (fresh && JSON.stringify(fresh) !== JSON.stringify(pair) && !outbox.entries().length) this.panel.show(fresh);
    if (!pair && changed && project.scored && this.view.pair === null) await this.firstPair();
  }

  async refreshScores() {
    const { scores, faults, decisions, status } = await api.scores(this.id);
    this.thresholds.setScores(scores);
    if (!this.trial) this.filters.setCounts({ decisions, status, faults });
  }

  setProject(project) {
    this.project = project;
    this.thresholds.setProject(project);
    if (!this.trial) this.filters.setCounts({ decisions: project.counts, status: project.status });
    this.setSteps(project);
    showProject(project, this);
    this.scoring.show(project);
    document.title = `${project.name} – paraqd`;
  }

  drawTotal() {
    const { total } = this.list;
    replace(this.totalText, isFiltered(this.view) ? `${count(total)} of ${plural(this.project.total, "pair")}` : plural(total, "pair"));
    this.clear.hidden = !isFiltered(this.view);
    this.all.disabled = total === 0;
  }

  drawSaving(state) {
    showProject(this.project, this, state);
  }
}

/** Return the view of the address if it is of this project, else null. */
export function viewOf(review) {
  const view = readAddress();
  return view.project === review?.id ? view : null;
}
