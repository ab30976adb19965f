// What is shown: search, verdict, status, fault and order.

import { SORTS } from "./address.js";
import { h, icon, replace } from "./dom.js";
import { DECISIONS, DECISION_ICONS, FAULTS, STATUSES, count, faultName } from "./words.js";

const TYPING_PAUSE = 200; // milliseconds

export class FilterBar {
  /** `onChange(changes, {typing})` gets the changed parts of the view. */
  constructor(onChange) {
    this.onChange = onChange;
    this.view = null;
    this.decisionCounts = {};
    this.statusCounts = {};
    this.faultCounts = {};
    this.search = h("input", {
      type: "search", id: "search", placeholder: "Search texts, ids and notes", "aria-label": "Search", autocomplete: "off", spellcheck: "false",
      oninput: () => this.searchSoon(),
      onkeydown: (event) => event.key === "Enter" && this.searchNow(),
    });
    this.verdicts = h("div", { class: "chips", role: "group", "aria-label": "Verdict" });
    this.statuses = h("div", { class: "chips", role: "group", "aria-label": "Status" });
    this.fault = h("select", { "aria-label": "Fault", onchange: () => onChange({ fault: this.fault.value ? [this.fault.value] : [] }) });
    this.sort = h(
      "select",
      { "aria-label": "Order", onchange: () => onChange({ sort: this.sort.value }) },
      Object.entries(SORTS).map(([value, text]) => h("option", { value }, text)),
    );
    this.element = h(
      "div",
      { class: "filters", role: "search", "aria-label": "Search and filter" },
      h("div", { class: "search" }, icon("search"), this.search, h("kbd", { "aria-hidden": "true" }, "/")),
      this.verdicts, this.statuses,
      h("div", { class: "selects" }, this.fault, this.sort),
    );
  }

  searchSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.searchNow(), TYPING_PAUSE);
  }

  searchNow() {
    clearTimeout(this.timer);
    if (this.search.value !== this.view.q) this.onChange({ q: this.search.value }, { typing: true });
  }

  setView(view) {
    this.view = view;
    if (document.activeElement !== this.search) this.search.value = view.q;
    this.sort.value = view.sort;
    this.draw();
  }

  setCounts({ decisions, status, faults }) {
    if (decisions) this.decisionCounts = decisions;
    if (status) this.statusCounts = status;
    if (faults) this.faultCounts = faults;
    if (this.view) this.draw();
  }

  draw() {
    this.chips(this.verdicts, "decision", DECISIONS, this.decisionCounts, (value) => value !== "error", DECISION_ICONS);
    this.chips(this.statuses, "status", STATUSES, this.statusCounts, (value) => value !== "disputed");
    const chosen = this.view.fault;
    const kinds = FAULTS.filter((kind) => this.faultCounts[kind] || chosen.includes(kind));
    const several = chosen.length > 1 ? chosen.join(",") : null;
    const options = [
      h("option", { value: "" }, "All faults"),
      several && h("option", { value: several }, chosen.map(faultName).join(", ")),
      ...kinds.map((kind) => h("option", { value: kind }, `${faultName(kind)} (${count(this.faultCounts[kind])})`)),
    ];
    if (document.activeElement !== this.fault || this.fault.options.length < 2) replace(this.fault, options);
    this.fault.value = several ?? chosen[0] ?? "";
  }

  /** Draw buttons that can be pressed. One that counts nothing is left out, unless it is pressed or always there. */
  chips(group, name, names, counts, always, icons = null) {
    const shown = Object.keys(names).filter((value) => always(value) || counts[value] || this.view[name].includes(value));
    const drawn = [...group.children].map((chip) => chip.dataset.value);
    if (drawn.join() !== shown.join()) {
      replace(group, shown.map((value) =>
        h(
          "button",
          { type: "button", class: `chip chip-${value}`, "data-value": value, onclick: () => this.toggle(name, value) },
          icons && icon(icons[value]), h("span", {}, names[value]), h("span", { class: "chip-count" }),
        ),
      ));
    }
    for (const chip of group.children) {
      const { value } = chip.dataset;
      chip.setAttribute("aria-pressed", this.view[name].includes(value) ? "true" : "false");
      chip.lastChild.textContent = value in counts ? count(counts[value]) : "";
    }
  }

  toggle(name, value) {
    const chosen = this.view[name];
    this.onChange({ [name]: chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value] });
  }
}
