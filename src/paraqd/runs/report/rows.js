// Build the element of one pair, for the screen and for print.
"use strict";

function textBlock(name, text, fragment) {
  const shown = element("p", { class: "text", dir: "auto" });
  if (text.trim()) shown.append(fragment);
  else shown.append(element("em", { class: "muted" }, "(blank)"));
  return element("div", { class: "side" }, element("span", { class: "side-name" }, name), shown);
}

function reasons(pair) {
  const list = element("ul", { class: "reasons" });
  if (pair.error) list.append(element("li", { class: "error" }, element("b", {}, "Not scored"), ` ${pair.error}`));
  for (const piece of pair.evidence) {
    const name = PairView.faultName(piece.kind);
    list.append(element("li", { class: "evidence" }, element("b", {}, name), ` ${piece.message}`));
  }
  for (const warning of pair.warnings) list.append(element("li", { class: "warning" }, element("b", {}, "Warning"), ` ${warning}`));
  return list;
}

function pairHead(pair) {
  const meter = element("span", { class: "meter", "aria-hidden": "true" });
  if (pair.score !== null) meter.style.setProperty("--score", `${50 * (pair.score + 1)}%`);
  const place = [`row ${formatCount(pair.row)}`, pair.id ? `id ${pair.id}` : "", pair.column].filter(Boolean);
  return element(
    "header",
    {},
    element(
      "span",
      { class: `badge ${pair.decision}` },
      element("span", { "aria-hidden": "true" }, DECISION_SIGNS[pair.decision]),
      ` ${DECISION_NAMES[pair.decision]}`,
    ),
    pair.score === null
      ? null
      : element("span", { class: "score", title: `Score ${pair.score}` }, element("span", { class: "hidden" }, "score "), formatScore(pair.score)),
    pair.score === null ? null : meter,
    element("span", { class: "place muted" }, place.join(" · ")),
  );
}

function pairBody(pair, diff) {
  const texts = PairView.render(pair, { diff });
  const list = reasons(pair);
  return [
    pairHead(pair),
    textBlock("Question", pair.question, texts.question),
    textBlock("Paraphrase", pair.paraphrase, texts.paraphrase),
    list.childElementCount ? list : "",
  ];
}

function pairRow(pair, position, count, diff) {
  return element(
    "article",
    {
      class: `pair pair-view ${pair.decision}`,
      tabindex: 0,
      "aria-label": `Row ${pair.row}: ${DECISION_NAMES[pair.decision]}${pair.score === null ? "" : `, score ${formatScore(pair.score)}`}`,
      "aria-posinset": position + 1,
      "aria-setsize": count,
    },
    ...pairBody(pair, diff),
  );
}

// Guess the height of a pair's row in pixels from the lengths of its texts.
function estimateRow(pair, width) {
  const narrow = width < 640;
  const perLine = Math.max(20, (width - (narrow ? 40 : 150)) / 7.6);
  const lines = (text) => Math.max(1, Math.ceil(text.length / perLine));
  const messages = pair.evidence.length + pair.warnings.length + (pair.error ? 1 : 0);
  const body = 26 * (lines(pair.question) + lines(pair.paraphrase)) + (narrow ? 44 : 0);
  return 72 + body + (messages ? 10 + 24 * messages : 0);
}

// --- print ---------------------------------------------------------------------------------------------------------

const MOST_PRINTED = 2000; // pairs; more would take minutes and hundreds of pages

function printedPairs(pairs, view, report) {
  const shown = pairs.slice(0, MOST_PRINTED);
  const filter = describeView(view, report);
  const says =
    shown.length < pairs.length
      ? `The first ${formatCount(shown.length)} of ${plural(pairs.length, "pair")} are printed. Choose fewer pairs with the filters to print the others.`
      : `${plural(shown.length, "pair")} of ${formatCount(report.summary.rows)}.`;
  return [
    element("h2", {}, "Pairs"),
    element("p", {}, filter ? `Only ${filter}. ${says}` : says),
    ...shown.map((pair) => element("article", { class: `pair ${pair.decision}` }, ...pairBody(pair, view.diff))),
  ];
}
