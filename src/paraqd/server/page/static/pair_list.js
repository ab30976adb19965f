// A list of any length. Only the rows in view exist in the page; their pairs are fetched in blocks.

import { h, icon, replace } from "./dom.js";
import { claimant } from "./pair_panel.js";
import { DECISIONS, DECISION_ICONS, STATUSES, count, decide, faultName, score } from "./words.js";

const ROW = 84; // pixels, as in review.css
const BLOCK = 100; // pairs in one request
const AROUND = 6; // rows kept ready above and below the view

export class PairList {
  /** `fetchBlock(offset, limit)` resolves to {total, pairs}; `onSelect(pair, index)` is called when a row is chosen. */
  constructor({ fetchBlock, onSelect, onTotal }) {
    Object.assign(this, { fetchBlock, onSelect, onTotal });
    this.total = 0;
    this.blocks = new Map(); // block number → {pairs, fresh}
    this.asked = new Map(); // block number → promise of its answer, in this round
    this.rows = new Map(); // index → element
    this.selected = null; // number of the chosen pair
    this.chosen = -1; // its place in the list
    this.aim = null; // the place that shall be chosen, while its pair is on its way
    this.round = 0; // answers of an older round are dropped
    this.loading = 0;
    this.rule = null; // a threshold that is being tried
    this.space = h("div", { class: "list-space" });
    this.empty = h("div", { class: "list-empty", hidden: true });
    this.element = h(
      "div",
      {
        class: "pair-list", role: "listbox", tabindex: "0", "aria-label": "Pairs",
        onscroll: () => this.drawSoon(), onkeydown: (event) => this.onKey(event),
        onclick: (event) => this.onClick(event),
      },
      this.space,
    );
    this.root = h("div", { class: "list-frame" }, this.element, this.empty);
    new ResizeObserver(() => this.drawSoon()).observe(this.element);
  }

  /** Show other pairs, from the top or around a place. Return false if yet others were asked for in the meantime. */
  async load({ around = 0 } = {}) {
    this.loading += 1; // a refresh in the meantime would drop the answer
    try {
      return await this.loadBlocks(around);
    } finally {
      this.loading -= 1;
    }
  }

  async loadBlocks(around) {
    const round = ++this.round;
    this.blocks.clear();
    this.asked.clear();
    this.chosen = -1;
    this.aim = null;
    const first = Math.floor(Math.max(0, around) / BLOCK);
    await this.fetch(first);
    if (first > 0 && round === this.round && !this.blocks.get(first)?.pairs.length) await this.fetch(0);
    if (round !== this.round) return false;
    this.locate();
    this.element.scrollTop = Math.max(0, (this.chosen >= 0 ? this.chosen : around) * ROW - this.element.clientHeight / 3);
    this.draw();
    return true;
  }

  /** Fetch what is in view again. The rows stay until the answer is here. */
  async refresh() {
    if (this.loading) return;
    this.round += 1;
    this.asked.clear();
    for (const block of this.blocks.values()) block.fresh = false;
    const { first, last } = this.range();
    const wanted = new Set([Math.floor(first / BLOCK), Math.max(0, Math.floor(last / BLOCK))]);
    await Promise.all([...wanted].map((block) => this.fetch(block)));
    this.draw();
  }

  /** Fetch a block once in each round. Resolve when its answer is here, or is dropped because a new round began. */
  fetch(block) {
    if (!this.asked.has(block)) this.asked.set(block, this.fetchNow(block, this.round));
    return this.asked.get(block);
  }

  async fetchNow(block, round) {
    try {
      const answer = await this.fetchBlock(block * BLOCK, BLOCK);
      if (round !== this.round) return;
      this.blocks.set(block, { pairs: answer.pairs, fresh: true });
      this.setTotal(answer.total);
      this.locate();
      this.drawSoon();
    } catch (error) {
      if (round !== this.round) return;
      this.asked.delete(block);
      if (!this.blocks.size) this.showEmpty(error.message);
    }
  }

  setTotal(total) {
    this.total = total;
    this.space.style.height = `${total * ROW}px`;
    this.showEmpty(total ? null : "No pair matches. Clear a filter or change the search.");
    this.onTotal(total);
  }

  showEmpty(text) {
    this.empty.hidden = text === null;
    replace(this.empty, text ?? "");
    if (text !== null) for (const row of this.rows.values()) row.remove();
    if (text !== null) this.rows.clear();
  }

  /** Find the place of the chosen pair among the pairs that are here. What was fetched last counts most. */
  locate() {
    this.chosen = -1;
    for (const wanted of [true, false]) {
      for (const [block, { pairs, fresh }] of this.blocks) {
        const at = fresh === wanted ? pairs.findIndex((pair) => pair.n === this.selected) : -1;
        if (at >= 0) this.chosen = block * BLOCK + at;
      }
      if (this.chosen >= 0) return;
    }
  }

  at(index) {
    return this.blocks.get(Math.floor(index / BLOCK))?.pairs[index % BLOCK] ?? null;
  }

  /** Return the pair at a place, and fetch it if need be. */
  async pairAt(index) {
    const block = Math.floor(index / BLOCK);
    let round;
    do {
      if (index < 0 || index >= this.total) return null;
      round = this.round;
      if (!this.blocks.get(block)?.fresh) await this.fetch(block);
    } while (round !== this.round); // the answer was dropped: ask again
    return this.at(index);
  }

  /** The place from which the next step goes. Steps add up while a pair is on its way. */
  get place() {
    return this.aim ?? this.chosen;
  }

  /** Choose the pair at a place as soon as it is here, unless somebody goes elsewhere before. */
  async go(index) {
    this.aim = index;
    const pair = await this.pairAt(index);
    if (this.aim !== index) return;
    this.aim = null;
    if (pair) this.onSelect(pair, index);
  }

  /** Mark a pair as chosen, and bring it into view. A pair that is still on its way is not chosen any more. */
  select(n, { reveal = true } = {}) {
    this.selected = n;
    this.aim = null;
    this.locate();
    if (reveal && this.chosen >= 0) this.reveal(this.chosen);
    this.draw();
  }

  reveal(index) {
    const top = index * ROW;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = Math.max(0, top - ROW);
    else if (top + ROW > scrollTop + clientHeight) this.element.scrollTop = top - clientHeight + 2 * ROW;
  }

  /** Replace a pair that changed. */
  patch(pair) {
    for (const { pairs } of this.blocks.values()) {
      const at = pairs.findIndex((other) => other.n === pair.n);
      if (at >= 0) pairs[at] = { ...pairs[at], ...pair };
    }
    this.drawSoon();
  }

  /** Show every row as it would be decided by another threshold. Null ends the trial. */
  tryRule(rule) {
    this.rule = rule;
    this.drawSoon();
  }

  range() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - AROUND);
    const last = Math.min(this.total - 1, Math.ceil((this.element.scrollTop + this.element.clientHeight) / ROW) + AROUND);
    return { first, last };
  }

  drawSoon() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.drawing);
    this.drawing = 0;
    const { first, last } = this.range();
    for (const [index, row] of this.rows) {
      if (index < first || index > last) {
        row.remove();
        this.rows.delete(index);
      }
    }
    for (let index = first; index <= last; index++) this.drawRow(index);
    const active = this.rows.get(this.chosen);
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
    for (const block of new Set([Math.floor(first / BLOCK), Math.floor(last / BLOCK)])) {
      if (last >= 0 && !this.blocks.get(block)?.fresh) void this.fetch(block);
    }
  }

  drawRow(index) {
    const pair = this.at(index);
    let row = this.rows.get(index);
    if (!row) {
      row = h("div", { class: "row", role: "option", id: `row-${index}`, "aria-posinset": index + 1 });
      row.style.transform = `translateY(${index * ROW}px)`;
      row.dataset.index = index;
      this.rows.set(index, row);
      this.space.append(row);
    }
    row.setAttribute("aria-setsize", this.total);
    const chosen = pair !== null && pair.n === this.selected;
    const decision = pair && (this.rule ? decide(pair.score, this.rule.threshold, this.rule.review) : pair.decision);
    const state = JSON.stringify([pair?.n, decision, chosen, pair?.status, pair?.my_vote, pair?.claimed_by, pair?.score, pair?.error]);
    if (row.dataset.state === state) return;
    row.dataset.state = state;
    row.setAttribute("aria-selected", chosen ? "true" : "false");
    row.classList.toggle("row-waiting", pair === null);
    row.dataset.decision = decision ?? "";
    row.dataset.n = pair?.n ?? "";
    replace(row, pair ? rowContent(pair, decision) : h("span", { class: "hidden-text" }, "Loading"));
  }

  onClick(event) {
    const index = Number(event.target.closest?.(".row")?.dataset.index ?? NaN);
    const pair = Number.isNaN(index) ? null : this.at(index);
    if (pair) this.onSelect(pair, index);
  }

  onKey(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.total, End: this.total };
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    void this.go(Math.max(0, Math.min(this.total - 1, this.place + steps[event.key])));
  }
}

function rowContent(pair, decision) {
  const fault = decision === "invalid" || decision === "review" ? pair.evidence?.[0] : null;
  const status = pair.my_vote === null && pair.status === "open" ? null : pair.status;
  return [
    h("span", { class: "row-verdict", title: DECISIONS[decision] }, decision ? icon(DECISION_ICONS[decision]) : "…", h("span", { class: "hidden-text" }, DECISIONS[decision] ?? "Waiting for a score")),
    h("span", { class: "row-text" }, pair.paraphrase),
    h(
      "span",
      { class: "row-meta" },
      h("span", {}, `#${count(pair.n)}`),
      pair.copies > 1 && h("span", { class: "copies" }, `× ${pair.copies}`),
      fault && h("span", { class: "row-fault" }, faultName(fault.kind)),
      pair.error && h("span", { class: "row-fault" }, "Not scored"),
      claimant(pair) && h("span", { class: "row-claim", title: `${claimant(pair)} is looking at this pair` }, icon("eye"), claimant(pair)),
      status && h("span", { class: `status status-${status}` }, STATUSES[status]),
      pair.my_vote && status === "open" && h("span", { class: "status" }, `You: ${pair.my_vote}`),
    ),
    h("span", { class: "row-score" }, score(pair.score)),
  ];
}
