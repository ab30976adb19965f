// Dialogs about a whole project: bulk decisions, log, agreement, export, settings, deletion, and the list of keys.

import { api, newKey } from "./api.js";
import { dialogForm, knownName, openDialog } from "./dialogs.js";
import { button, field, h, replace } from "./dom.js";
import { KEYS, keysAreOn, turnKeys } from "./keys.js";
import { tell, warn } from "./messages.js";
import { DECISIONS, STATUSES, count, faultName, percent, plural, score, time } from "./words.js";

const VERBS = { accept: "Accept", reject: "Reject", none: "Clear my decision on" };

/** Describe in words which pairs a view shows. */
function describe(view) {
  const parts = [];
  if (view.q.trim()) parts.push(`containing “${view.q.trim()}”`);
  if (view.decision.length) parts.push(view.decision.map((value) => DECISIONS[value]).join(" or "));
  if (view.fault.length) parts.push(view.fault.map(faultName).join(" or "));
  if (view.status.length) parts.push(view.status.map((value) => STATUSES[value]).join(" or "));
  if (view.low !== null || view.high !== null) parts.push(`score from ${score(view.low ?? -1)} to ${score(view.high ?? 1)}`);
  return parts.length ? parts.join(" · ") : "All pairs of the project";
}

/** Ask for one decision on everything that is listed. Resolve to the server's answer, or to null. */
export function askDecideAll(id, filter, view, total) {
  return openDialog("Decide all listed pairs", (close) => {
    let expected = total;
    let last = null; // what was sent last; the same choice again is the same request, in case only the answer was lost
    const changed = h("p", { class: "problem", role: "alert" });
    const choose = (decision) => button("", { kind: decision === "none" ? "" : decision, onclick: () => send(decision) });
    const buttons = Object.fromEntries(Object.keys(VERBS).map((decision) => [decision, choose(decision)]));
    const label = () => {
      for (const [decision, element] of Object.entries(buttons)) element.querySelector(".label").textContent = `${VERBS[decision]} ${plural(expected, "pair")}`;
    };
    const send = async (decision) => {
      for (const element of Object.values(buttons)) element.disabled = true;
      try {
        if (last?.decision !== decision) last = { decision, request: newKey() };
        close(await api.decideAll(id, { filter, expected, ...last }));
      } catch (error) {
        if (error.status === 409) {
          const before = expected;
          expected = (await api.pairs(id, filter, 0, 1)).total;
          replace(changed, `The list changed while you looked at it: it now has ${plural(expected, "pair")}, not ${count(before)}. Nothing was decided. Choose again.`);
          label();
        } else replace(changed, error.message);
      } finally {
        for (const element of Object.values(buttons)) element.disabled = false;
      }
    };
    label();
    return [
      h("p", {}, "One decision for all pairs that the list shows now:"),
      h("p", { class: "summary-line" }, describe(view)),
      changed,
      h("div", { class: "dialog-column" }, buttons.accept, buttons.reject, buttons.none),
      h("p", { class: "hint" }, "It is one step: one undo takes all of it back."),
      h("div", { class: "dialog-actions" }, button("Cancel", { autofocus: true, onclick: () => close() })),
    ];
  });
}

/** Show who decided what and when. */
export function showLog(project, review) {
  const rows = h("tbody");
  const more = button("Older", { kind: "small", onclick: () => load() });
  const empty = h("p", { class: "hint", hidden: true }, "Nobody has decided anything yet.");
  let before = null;
  const words = { accept: "Accepted", reject: "Rejected", none: "No decision" };
  const row = (event, close) =>
    h(
      "tr",
      { class: event.undone ? "undone" : "" },
      h("td", {}, h("time", { datetime: event.at }, time(event.at))),
      h("td", {}, event.reviewer),
      h("td", {}, h("button", { type: "button", class: "link", onclick: () => close(event.pair) }, `#${count(event.pair)}`)),
      h("td", {}, event.action === "undo" ? "Undo: " : event.action === "redo" ? "Redo: " : event.action === "import" ? "Import: " : "", event.hidden ? "hidden until you decide" : (words[event.decision] ?? event.decision), event.undone && h("span", { class: "hint" }, " (undone)")),
      h("td", {}, event.note ?? ""),
    );
  let closeDialog = null;
  const load = async () => {
    try {
      const answer = await api.log(project.id, before);
      rows.append(...answer.events.map((event) => row(event, closeDialog)));
      before = answer.events.at(-1)?.id ?? before;
      more.hidden = !answer.more;
      empty.hidden = rows.children.length > 0;
    } catch (error) {
      warn(error);
    }
  };
  return openDialog(
    "Log of decisions",
    (close) => {
      closeDialog = close;
      void load();
      const head = h("tr", {}, ...["When", "Who", "Pair", "Decision", "Note"].map((text) => h("th", { scope: "col" }, text)));
      return [h("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Log" }, h("table", {}, h("thead", {}, head), rows)), empty, more];
    },
    { wide: true },
  ).then(async (n) => n && review.open(await api.pair(project.id, n)));
}

const share = (number) => (number === null || number === undefined ? "–" : percent(number));
const kappa = (number) => (number === null || number === undefined ? "–" : Number(number).toFixed(2).replace("-", "−"));

function agreementTable(caption, first, entries) {
  const head = h("tr", {}, ...[first, "Pairs", "Same decision", "Kappa"].map((text) => h("th", { scope: "col" }, text)));
  const body = entries.map((entry) =>
    h("tr", {}, h("th", { scope: "row" }, entry.reviewer ?? entry.reviewers.join(" and ")), h("td", {}, count(entry.pairs)), h("td", {}, share(entry.share)), h("td", {}, kappa(entry.kappa))),
  );
  return h("table", {}, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, body));
}

/** Show how often reviewers agree with each other and with the model. */
export function showAgreement(project) {
  const place = h("div", { class: "agreement" }, h("p", { class: "hint" }, "Loading…"));
  const load = async () => {
    try {
      const { reviewers, model } = await api.agreement(project.id);
      replace(
        place,
        reviewers.length ? agreementTable("Between reviewers", "Reviewers", reviewers) : h("p", { class: "hint" }, "No pair was decided by two people yet."),
        model.length ? agreementTable("Reviewers and the model", "Reviewer", model) : h("p", { class: "hint" }, "Nobody has decided anything yet."),
        h("p", { class: "hint" }, "Kappa is 1 if all decisions are the same, and 0 if they are the same as often as by chance."),
      );
    } catch (error) {
      replace(place, h("p", { class: "problem", role: "alert" }, error.message));
    }
  };
  return openDialog("Agreement", (close) => {
    void load();
    return [place, h("div", { class: "dialog-actions" }, button("Close", { onclick: () => close() }))];
  });
}

/** Offer the result as a file, and take decisions from such a file. */
export function showExport(project, review) {
  return openDialog("Export and import", (close) => {
    const format = h("select", {}, ...[["xlsx", "Excel (.xlsx)"], ["csv", "CSV"], ["jsonl", "JSON Lines"]].map(([value, text]) => h("option", { value }, text)));
    const only = h("input", { type: "checkbox" });
    const link = h("a", { class: "button primary", download: true }, "Download");
    const aim = () => (link.href = api.exportAddress(project.id, format.value, only.checked ? "accepted" : null));
    format.addEventListener("change", aim);
    only.addEventListener("change", aim);
    aim();
    const file = h("input", { type: "file", accept: ".xlsx,.csv,.tsv,.jsonl,.parquet", "aria-label": "File with decisions" });
    const result = h("p", { role: "status" });
    const send = button("Import decisions", {
      disabled: true,
      onclick: async () => {
        if (!(await knownName())) return;
        const form = new FormData();
        form.append("file", file.files[0]);
        send.disabled = true;
        try {
          const { decisions, unknown, unchanged } = await api.import(project.id, form);
          result.className = "";
          replace(result, `${plural(decisions, "decision")} imported, ${count(unchanged)} already here, ${plural(unknown, "row")} of other pairs.`);
          await Promise.all([review.refresh(), recount()]);
        } catch (error) {
          result.className = "problem";
          replace(result, error.message);
        } finally {
          send.disabled = false;
        }
      },
    });
    file.addEventListener("change", () => (send.disabled = !file.files.length));
    const accepted = h("span", {}, `Accepted pairs only (${count(project.status.accepted)})`);
    const recount = () => api.project(project.id).then((now) => replace(accepted, `Accepted pairs only (${count(now.status.accepted)})`), () => undefined);
    void recount();
    return [
      h("h3", {}, "Export"),
      h("p", {}, "Your own columns come first, then the verdicts and the decisions."),
      h("div", { class: "dialog-row" }, field("Format", format), link),
      h("label", { class: "check" }, only, accepted),
      h("h3", {}, "Import"),
      h("p", {}, "Choose a file that was exported from this project, here or by somebody else. Its decisions are added."),
      h("div", { class: "dialog-row" }, file, send),
      result,
      h("div", { class: "dialog-actions" }, button("Close", { onclick: () => close() })),
    ];
  });
}

/** Change the name of a project and the number of people who decide on each pair. */
export function askSettings(project, review) {
  return openDialog("Settings", (close) => {
    const name = h("input", { value: project.name, maxlength: 200, required: true });
    const votes = h("input", { type: "checkbox", checked: project.votes_needed === 2 });
    return dialogForm(
      [
        field("Name of the project", name),
        h("label", { class: "check" }, votes, h("span", {}, "Two people decide on each pair")),
        h("p", { class: "hint" }, "With two people, the other's decision stays hidden until you have decided."),
        h("p", { class: "hint signature" }, `${plural(project.rows ?? project.total, "row")}, ${plural(project.total, "different pair")}${project.empty ? `, ${plural(project.empty, "empty cell")}` : ""}`),
        project.signature && h("p", { class: "hint signature" }, project.signature),
      ],
      {
        action: "Save",
        close,
        submit: async () => {
          if (!name.value.trim()) return "Type a name.";
          if (!(await knownName())) return "Your name is needed to save.";
          review.setProject(await api.change(project.id, { name: name.value.trim(), votes_needed: votes.checked ? 2 : 1 }));
          await review.refresh();
          tell("Settings saved");
          close(true);
          return null;
        },
      },
    );
  });
}

/** Delete a project after its name was typed. */
export function askDelete(project) {
  return openDialog("Delete the project?", (close) => {
    const typed = h("input", { autocomplete: "off", spellcheck: "false", autofocus: true });
    return dialogForm(
      [
        h("p", {}, `All ${plural(project.total, "pair")}, decisions and notes of `, h("strong", {}, project.name), " are deleted for everybody. This cannot be undone. Export first if you may need them."),
        field("Type the name of the project", typed),
      ],
      {
        action: "Delete",
        kind: "danger",
        close,
        submit: async () => {
          if (typed.value.trim() !== project.name.trim()) return `The name does not match. Type: ${project.name}`;
          if (!(await knownName())) return "Your name is needed to delete a project.";
          await api.remove(project.id);
          close(true);
          location.assign(location.pathname);
          return null;
        },
      },
    );
  });
}

/** Show the keys, and let them be turned off. */
export function showHelp() {
  return openDialog("Keys and help", (close) => {
    const on = h("input", { type: "checkbox", role: "switch", checked: keysAreOn(), onchange: () => turnKeys(on.checked) });
    return [
      h("dl", { class: "keys" }, KEYS.map(([key, text]) => h("div", {}, h("dt", {}, h("kbd", {}, key.toUpperCase())), h("dd", {}, text)))),
      h("p", {}, "In the list, the arrow keys move from pair to pair. In a note, Escape returns to the pair. Keys rest while you type."),
      h("label", { class: "switch" }, on, h("span", {}, "Single keys decide")),
      h("h3", {}, "What the colours say"),
      h("p", {}, "Orange marks are what the model objects to: point at one, or tap it, to read the sentence. Grey dotted words differ between the texts, which is often harmless."),
      h("div", { class: "dialog-actions" }, button("Close", { onclick: () => close() })),
    ];
  });
}
