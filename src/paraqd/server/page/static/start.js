// The start page: bring pairs in, or go on with a project.

import { api } from "./api.js";
import { dialogForm, knownName, openDialog } from "./dialogs.js";
import { button, field, h, icon, replace } from "./dom.js";
import { showStart } from "./header.js";
import { listenToKeys } from "./keys.js";
import { warn } from "./messages.js";
import { showHelp } from "./project_dialogs.js";
import { count, plural, time } from "./words.js";

const TYPES = [".xlsx", ".csv", ".tsv", ".jsonl", ".parquet"];
const EVERY = 2000; // milliseconds between two looks at projects that are being scored

export class Start {
  constructor(main, goTo) {
    Object.assign(this, { main, goTo });
    document.title = "paraqd";
    showStart();
    this.projects = h("div", { class: "projects" }, h("p", { class: "hint" }, "Loading…"));
    replace(
      main,
      h(
        "div",
        { class: "start" },
        h("div", { class: "start-title" }, h("h1", {}, "Is it still the same problem?"), h("p", {}, "Check paraphrases of math word problems, see what changed, and decide.")),
        h("div", { class: "start-columns" }, this.fileCard(), this.pasteCard()),
        h("section", { class: "start-projects", "aria-labelledby": "projects-title" }, h("h2", { id: "projects-title" }, "Projects"), this.projects),
      ),
    );
    this.stopKeys = listenToKeys({ "?": () => showHelp() });
    void this.refresh();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.stopKeys();
  }

  options() {
    const band = h("input", { type: "checkbox", checked: true });
    const votes = h("input", { type: "checkbox" });
    const element = h(
      "div",
      { class: "start-options" },
      h("label", { class: "check" }, band, h("span", {}, "Mark uncertain pairs to check by hand")),
      h("label", { class: "check" }, votes, h("span", {}, "Two people decide on each pair")),
    );
    return { element, values: () => ({ review: band.checked ? "default" : null, votes_needed: votes.checked ? 2 : 1 }) };
  }

  // --- a file -----------------------------------------------------------------------------------------------------

  fileCard() {
    const input = h("input", { type: "file", id: "file", class: "file-input", accept: TYPES.join(","), onchange: () => this.send(input.files[0], problem, options.values()).then(() => (input.value = "")) });
    const problem = h("div", { class: "problem", role: "alert" });
    const options = this.options();
    const zone = h(
      "div",
      { class: "drop" },
      icon("file"),
      h("p", { class: "drop-title" }, "Drop an Excel or CSV file here"),
      input,
      h("label", { class: "button primary", for: "file" }, "Choose a file"),
      h("p", { class: "hint" }, "One row for each question, with one or several columns of paraphrases. Also TSV, JSON Lines and Parquet."),
    );
    const over = (on) => (event) => {
      event.preventDefault();
      zone.classList.toggle("drop-over", on);
    };
    zone.addEventListener("dragover", over(true));
    zone.addEventListener("dragenter", over(true));
    zone.addEventListener("dragleave", over(false));
    zone.addEventListener("drop", (event) => {
      over(false)(event);
      const [file] = event.dataTransfer.files;
      if (file) void this.send(file, problem, options.values());
    });
    return h("section", { class: "card", "aria-labelledby": "file-title" }, h("h2", { id: "file-title" }, "A file"), zone, problem, options.element);
  }

  async send(file, problem, options, columns = {}) {
    if (!file || !(await knownName())) return;
    replace(problem, h("p", { class: "hint sending" }, `Reading ${file.name}…`));
    const form = new FormData();
    form.append("file", file);
    form.append("name", file.name.replace(/\.[^.]+$/, ""));
    if (options.review) form.append("review", options.review);
    form.append("votes_needed", options.votes_needed);
    for (const [name, value] of Object.entries(columns)) form.append(name, value);
    try {
      const project = await api.upload(form);
      this.goTo(project.id);
    } catch (error) {
      replace(problem, h("p", {}, error.message), error.details.hint && !error.message.includes(error.details.hint) && h("p", { class: "hint" }, error.details.hint));
      const found = error.details.columns ?? [];
      if (found.length < 2) return;
      const chosen = await askColumns(file.name, found, error.message);
      if (chosen) await this.send(file, problem, options, chosen);
    }
  }

  // --- pasted texts -----------------------------------------------------------------------------------------------

  pasteCard() {
    const groups = h("div", { class: "paste-groups" });
    const add = () => {
      const number = groups.children.length + 1;
      const remove = number > 1 && button("Remove", { kind: "quiet small", onclick: () => group.remove() });
      const group = h(
        "div",
        { class: "paste-group" },
        field(number > 1 ? `Question ${number}` : "Question", h("textarea", { name: "question", rows: 3, placeholder: "Meera has 12 pencils. She gives 5 to Ravi. How many are left?" })),
        field(number > 1 ? `Paraphrases of question ${number}` : "Paraphrases, one on each line", h("textarea", { name: "paraphrases", rows: 4, placeholder: "Meera had 12 pencils and gave Ravi 5 of them. How many does she still have?" })),
        remove,
      );
      groups.append(group);
      return group;
    };
    add();
    const options = this.options();
    const problem = h("p", { class: "problem", role: "alert" });
    const go = button("Check", { type: "submit", kind: "primary" });
    const form = h(
      "form",
      {
        onsubmit: async (event) => {
          event.preventDefault();
          replace(problem);
          const pairs = pastedPairs(groups);
          if (typeof pairs === "string") return replace(problem, pairs);
          if (!(await knownName())) return undefined;
          go.disabled = true;
          try {
            const project = await api.create({ name: nameFor(pairs), pairs, ...options.values() });
            this.goTo(project.id);
          } catch (error) {
            replace(problem, error.message);
          } finally {
            go.disabled = false;
          }
          return undefined;
        },
      },
      groups,
      problem,
      options.element,
      h("div", { class: "card-actions" }, go, button("Another question", { onclick: () => add().querySelector("textarea").focus() })),
    );
    return h("section", { class: "card", "aria-labelledby": "paste-title" }, h("h2", { id: "paste-title" }, "Pasted text"), form);
  }

  // --- projects ---------------------------------------------------------------------------------------------------

  async refresh() {
    let wait = 5 * EVERY;
    try {
      const projects = await api.projects();
      if (this.closed) return;
      this.draw(projects);
      if (projects.some((project) => project.state === "scoring")) wait = EVERY;
    } catch (error) {
      if (this.closed) return;
      if (!this.told) warn(error);
      this.told = true;
      replace(this.projects, h("p", { class: "hint" }, error.message));
    }
    this.timer = setTimeout(() => this.refresh(), wait);
  }

  draw(projects) {
    const text = JSON.stringify(projects);
    if (text === this.drawn) return;
    this.drawn = text;
    const focused = this.projects.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    replace(this.projects, projects.length ? h("ul", { class: "project-list" }, projects.map(projectRow)) : h("p", { class: "hint" }, "No projects yet. A file or pasted text becomes the first."));
    if (focused) this.projects.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
}

function projectRow(project) {
  const { accepted, rejected, disputed } = project.status;
  const scoring = project.state === "scoring";
  const done = accepted + rejected;
  const words = scoring ? `Scored ${count(project.scored)} of ${count(project.total)}` : `${count(done)} of ${count(project.total)} decided`;
  const facts = [
    plural(project.total, "pair"),
    `${count(project.counts.invalid)} invalid`,
    project.counts.review > 0 && `${count(project.counts.review)} to check`,
    disputed > 0 && `${count(disputed)} disputed`,
    project.counts.error > 0 && `${count(project.counts.error)} not scored`,
    time(project.created),
  ].filter(Boolean);
  return h(
    "li",
    {},
    h(
      "a",
      { class: "project", href: `?project=${encodeURIComponent(project.id)}` },
      h("span", { class: "project-title" }, project.name),
      h("span", { class: "project-facts" }, facts.join(" · ")),
      h("span", { class: "project-progress" }, h("progress", { max: project.total || 1, value: scoring ? project.scored : done, "aria-label": words }), h("span", { "aria-hidden": "true" }, words)),
      project.state === "failed" && h("span", { class: "problem" }, project.error || "Scoring stopped"),
    ),
  );
}

/** Return the pairs of the form, or a sentence that says what is missing. */
function pastedPairs(groups) {
  const pairs = [];
  for (const [index, group] of [...groups.children].entries()) {
    const question = group.querySelector("[name=question]").value.trim();
    const lines = group.querySelector("[name=paraphrases]").value.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
    const name = groups.children.length > 1 ? `Question ${index + 1}` : "The question";
    if (!question && !lines.length && index > 0) continue;
    if (!question) return `${name} is empty. Paste the original problem.`;
    if (!lines.length) return `${name} has no paraphrase. Paste at least one, each on its own line.`;
    pairs.push(...lines.map((paraphrase) => ({ question, paraphrase })));
  }
  return pairs;
}

function nameFor(pairs) {
  const words = pairs[0].question.replace(/\s+/g, " ");
  return [...words].length > 48 ? `${[...words].slice(0, 47).join("").trimEnd()}…` : words;
}

/** Ask which columns hold the texts. Resolve to the fields for the upload, or to null. */
function askColumns(file, columns, message) {
  return openDialog("Which columns?", (close) => {
    const question = h("select", { name: "question", autofocus: true }, columns.map((name) => h("option", { value: name }, name)));
    const boxes = columns.map((name) => ({ name, box: h("input", { type: "checkbox", name: "paraphrase", value: name }) }));
    return dialogForm(
      [
        h("p", {}, message),
        field("Column with the original questions", question),
        h("fieldset", {}, h("legend", {}, "Columns with paraphrases"), boxes.map(({ name, box }) => h("label", { class: "check" }, box, h("span", {}, name)))),
      ],
      {
        action: `Read ${file}`,
        close,
        submit: () => {
          const chosen = boxes.filter(({ box }) => box.checked).map(({ name }) => name);
          if (!chosen.length) return "Choose at least one column with paraphrases.";
          if (chosen.includes(question.value)) return `“${question.value}” cannot be both the question and a paraphrase.`;
          close({ question_column: question.value, paraphrase_columns: chosen.join(",") });
          return null;
        },
      },
    );
  });
}
