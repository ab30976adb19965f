// Paraphrases that the server writes for the question of a pair, and that the model calls valid.

import { api } from "./api.js";
import { openDialog } from "./dialogs.js";
import { button, h, replace } from "./dom.js";
import { say } from "./messages.js";
import { faultName, plural, score } from "./words.js";

const WANTED = 5;

/**
 * Show suggestions for the question of a pair. `use(text)` adds one to the project and resolves to a sentence that
 * says what was done. Resolve when the dialog is closed.
 */
export async function showSuggestions(pair, use) {
  const leaving = new AbortController(); // the server stops writing when nobody waits
  const found = h("ul", { class: "suggestions" });
  const state = h("p", { role: "status", class: "hint" });
  const problem = h("p", { class: "problem", role: "alert" });
  const more = button("Other suggestions", { kind: "small", onclick: () => load() });
  let seed = 0;

  const load = async () => {
    more.disabled = true;
    replace(problem);
    replace(state, "Writing paraphrases…");
    try {
      const { paraphrases, reason } = await api.paraphrase({ question: pair.question, n: WANTED, seed: seed++ }, leaving.signal);
      replace(found, paraphrases.map(entry));
      const text = `${plural(paraphrases.length, "suggestion")}${reason ? `: ${reason}` : ""}.`;
      replace(state, text);
    } catch (error) {
      if (leaving.signal.aborted) return;
      replace(state);
      replace(problem, error.message);
    } finally {
      more.disabled = false;
    }
  };

  const entry = (each) => {
    const add = button("Use", { kind: "small", "aria-label": `Use: ${each.text}` });
    const done = h("span", { class: "hint" });
    add.addEventListener("click", async () => {
      add.disabled = true;
      replace(problem);
      try {
        const text = await use(each.text);
        if (!text) return void (add.disabled = false);
        replace(done, text);
        say(text);
      } catch (error) {
        add.disabled = false;
        replace(problem, error.message);
      }
    });
    const reasons = each.evidence.map((piece) => h("li", {}, h("span", { class: "fault" }, faultName(piece.kind)), h("span", {}, piece.message)));
    return h(
      "li",
      {},
      h("p", { class: "suggestion-text", lang: "en" }, each.text),
      h("p", { class: "hint" }, `Score ${score(each.score)}. `, reasons.length ? null : "The model found nothing wrong."),
      reasons.length > 0 && h("ul", { class: "reasons" }, reasons),
      h("div", { class: "suggestion-actions" }, add, done),
    );
  };

  await openDialog(
    "Suggested paraphrases",
    () => {
      void load();
      return [h("p", { lang: "en" }, pair.question), state, problem, found, h("div", { class: "dialog-actions" }, more)];
    },
    { wide: true },
  );
  leaving.abort();
}
