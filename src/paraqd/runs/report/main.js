// Open the report, and connect the filters, the plots and the list of pairs.
"use strict";

const PAGE_OF_PAIRS = 20000; // browsers limit the height of a page, so a longer list is shown in pages
const byId = (id) => document.getElementById(id);

function showReport(report) {
  let view = readFragment(location.hash, report);
  let chosen = [];
  let page = 0;
  let written = "";
  const list = new RowList(
    byId("list"),
    (pair, position) => pairRow(pair, page * PAGE_OF_PAIRS + position, chosen.length, view.diff),
    estimateRow,
  );
  list.afterLayout = () => highlightTerms(byId("list"), searchTerms(view.q));

  // --- the summary -------------------------------------------------------------------------------------------------

  function choose(changes) {
    update({ ...everything(), diff: view.diff, sort: view.sort, ...changes });
    byId("pairs-title").scrollIntoView({ block: "start" });
    byId("pairs-title").focus({ preventScroll: true });
  }

  if (report.threshold !== null) byId("report").style.setProperty("--threshold", `${50 * (report.threshold + 1)}%`);
  byId("origin").textContent = [report.source, report.date].filter(Boolean).join(", ");
  byId("headline").textContent = headline(report);
  byId("notes").replaceChildren(...report.notes.map((note) => element("p", { class: "notice" }, note)));
  drawShare(byId("share"), report);
  drawTiles(byId("tiles"), report, choose);
  drawScores(byId("scores"), report);
  drawFaults(byId("faults"), report, choose);
  drawWorst(byId("worst"), report, choose);
  byId("about").replaceChildren(...aboutLines(report));

  // --- the filters -------------------------------------------------------------------------------------------------

  const toggle = (set, value, on) => {
    const changed = new Set(set);
    if (on) changed.add(value);
    else changed.delete(value);
    return changed;
  };
  const boxFor = (name, value, count, text, className) =>
    element(
      "label",
      { class: className },
      element("input", {
        type: "checkbox",
        name,
        value,
        onchange: (event) => update({ ...view, [name]: toggle(view[name], value, event.target.checked) }),
      }),
      element("span", {}, text, element("small", {}, ` ${formatCount(count)}`)),
    );
  const decisions = DECISIONS.filter((decision) => countOf(report, decision));
  byId("decisions").replaceChildren(
    ...decisions.map((each) => boxFor("decision", each, countOf(report, each), DECISION_NAMES[each], `chip ${each}`)),
  );
  const faults = faultCounts(report);
  byId("fault-options").replaceChildren(
    ...faults.map(([kind, count]) => boxFor("fault", kind, count, nameOfFault(kind), "option")),
  );
  byId("fault-menu").parentElement.hidden = !faults.length;

  let typing = 0;
  byId("q").addEventListener("input", (event) => {
    view = { ...view, q: event.target.value }; // another filter that changes now must not lose what was typed
    clearTimeout(typing);
    typing = setTimeout(() => update(view), 150);
  });
  for (const name of ["low", "high"]) {
    byId(name).addEventListener("change", (event) => {
      const number = event.target.value === "" ? null : Number(event.target.value);
      update({ ...view, [name]: Number.isFinite(number) ? number : null });
    });
  }
  byId("sort").addEventListener("change", (event) => update({ ...view, sort: event.target.value }));
  byId("diff").addEventListener("change", (event) => update({ ...view, diff: event.target.checked }));
  byId("clear").addEventListener("click", () => {
    update({ ...everything(), diff: view.diff, sort: view.sort });
    byId("q").focus();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    if (!byId("fault-menu").contains(event.target)) byId("fault-menu").open = false;
  });
  byId("fault-menu").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && byId("fault-menu").open) {
      byId("fault-menu").open = false;
      byId("fault-menu").querySelector("summary").focus();
    }
  });

  function showControls() {
    if (document.activeElement !== byId("q")) byId("q").value = view.q;
    for (const box of byId("filters").querySelectorAll("input[name]")) box.checked = view[box.name].has(box.value);
    byId("low").value = view.low ?? "";
    byId("high").value = view.high ?? "";
    byId("sort").value = view.sort;
    byId("diff").checked = view.diff;
    const kinds = [...view.fault].map(nameOfFault);
    byId("fault-chosen").textContent = kinds.length > 1 ? `${kinds.length} faults` : kinds[0] || "Any fault";
    byId("clear").hidden = !isFiltered(view);
    byId("chosen-question").hidden = view.question === null;
    byId("chosen-question").replaceChildren(
      ...(view.question === null
        ? []
        : [
            element("span", { dir: "auto" }, `Question: ${report.questions[view.question] || "(blank)"}`),
            element("button", { type: "button", class: "quiet", onclick: () => update({ ...view, question: null }) }, "All questions"),
          ]),
    );
  }

  // --- the pairs ---------------------------------------------------------------------------------------------------

  function update(next, { fragment = true } = {}) {
    clearTimeout(typing);
    view = next;
    page = 0;
    chosen = selectPairs(report, view);
    showControls();
    if (fragment) {
      written = writeFragment(view);
      history.replaceState(null, "", `${location.pathname}${location.search}${written ? `#${written}` : ""}`);
    }
    showPage();
    const top = byId("list").getBoundingClientRect().top;
    const covered = byId("filters").getBoundingClientRect().bottom;
    if (top < 0) scrollBy(0, top - Math.max(0, covered) - 60);
  }

  function showPage() {
    const total = report.summary.rows;
    const from = page * PAGE_OF_PAIRS;
    const shown = chosen.slice(from, from + PAGE_OF_PAIRS);
    const pages = Math.ceil(chosen.length / PAGE_OF_PAIRS);
    const part = pages > 1 ? ` (${formatCount(from + 1)} to ${formatCount(from + shown.length)} on this page)` : "";
    byId("count").textContent =
      chosen.length === total ? `${plural(total, "pair")}${part}` : `${formatCount(chosen.length)} of ${plural(total, "pair")}${part}`;
    byId("list").hidden = !shown.length;
    list.show(shown);
    byId("hint").textContent = !chosen.length
      ? total
        ? "No pair matches. Change or clear the filters."
        : ""
      : `In the list, J and K go to the next and the previous pair. ${shown.length > RENDER_ALL ? "Ctrl+F goes to the search field above, which searches all pairs; press it again for the browser’s own search. " : ""}Printing includes the summary and ${chosen.length > MOST_PRINTED ? `the first ${formatCount(MOST_PRINTED)} of` : "all"} the pairs that match.`;
    byId("pager").hidden = pages < 2;
    const button = (name, to) =>
      element("button", { type: "button", class: "quiet", disabled: to < 0 || to >= pages, onclick: () => turn(to) }, name);
    byId("pager").replaceChildren(button("Previous page", page - 1), ` Page ${page + 1} of ${pages} `, button("Next page", page + 1));
  }

  function turn(to) {
    page = to;
    showPage();
    byId("pairs-title").scrollIntoView({ block: "start" });
    byId("pairs-title").focus({ preventScroll: true });
  }

  byId("list").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !["j", "k"].includes(event.key)) return;
    const row = event.target.closest("article");
    if (!row) return;
    event.preventDefault();
    list.focus(row.position + (event.key === "j" ? 1 : -1), Math.max(0, byId("filters").getBoundingClientRect().bottom));
  });
  addEventListener("keydown", (event) => {
    const find = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === "f";
    if (!find || list.items.length <= RENDER_ALL || document.activeElement === byId("q")) return;
    event.preventDefault(); // most rows do not exist, so the browser would not find them
    byId("q").focus();
    byId("q").select();
  });
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address after # holds the filters
    byId("pairs-title").focus();
    byId("pairs-title").scrollIntoView({ block: "start" });
  });
  addEventListener("hashchange", () => {
    if (location.hash.replace(/^#/, "") !== written) update(readFragment(location.hash, report), { fragment: false });
  });
  byId("print-button").hidden = false;
  byId("print-button").addEventListener("click", () => print());
  addEventListener("beforeprint", () => byId("printed").replaceChildren(...printedPairs(chosen, view, report)));
  addEventListener("afterprint", () => byId("printed").replaceChildren());

  PairView.attachTips(byId("list"));
  update(view, { fragment: false });
}

function aboutLines(report) {
  const lines = report.signatures.map(([signature, count]) => {
    const all = report.signatures.length === 1;
    return element("p", {}, element("code", {}, signature || "no signature"), all ? "" : ` (${plural(count, "pair")})`);
  });
  const meaning =
    "Marked words are evidence against the paraphrase; point at a mark, tap it or move to it with Tab to read why. Words with a dotted line differ between the two texts.";
  return [element("p", {}, meaning), ...lines, element("p", {}, `Made with paraqd ${report.version}.`)];
}

// Highlight the terms of the search in the rows that exist, in browsers that can do so without changing the rows.
function highlightTerms(root, terms) {
  if (!globalThis.CSS?.highlights || !globalThis.Highlight) return;
  const ranges = [];
  const walker = terms.length ? document.createTreeWalker(root, NodeFilter.SHOW_TEXT) : null;
  while (walker?.nextNode()) {
    const text = walker.currentNode.data.toLowerCase();
    if (text.length !== walker.currentNode.data.length) continue; // positions differ in a few languages
    for (const term of terms) {
      for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) {
        const range = new Range();
        range.setStart(walker.currentNode, at);
        range.setEnd(walker.currentNode, at + term.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

async function openReport() {
  const state = byId("state");
  if (!globalThis.DecompressionStream) {
    state.textContent = "This browser is too old to open the report. Use a current version of Firefox, Chrome, Edge or Safari.";
    return;
  }
  let report;
  try {
    report = await loadReport();
  } catch (error) {
    state.textContent = `The report cannot be opened, because the file is damaged (${error.message}). Make it again.`;
    return;
  }
  state.hidden = true;
  byId("report").hidden = false;
  showReport(report);
}

openReport();
