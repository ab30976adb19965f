// Choose and sort pairs. The choice is kept in the address after #, so that a link or a reload shows the same view.
"use strict";

const SORTS = ["row", "score", "-score", "question"];

const everything = () => ({
  q: "",
  decision: new Set(),
  fault: new Set(),
  low: null,
  high: null,
  question: null,
  sort: "row",
  diff: true,
});

const isFiltered = (view) =>
  Boolean(view.q.trim() || view.decision.size || view.fault.size) ||
  view.low !== null ||
  view.high !== null ||
  view.question !== null;

function readFragment(fragment, report) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const view = everything();
  const number = (name) => {
    const value = given.get(name);
    return value !== null && value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : null;
  };
  const names = (name, known) => (given.get(name) || "").split(",").filter((each) => known.includes(each));
  view.q = given.get("q") || "";
  view.decision = new Set(names("decision", DECISIONS));
  view.fault = new Set(names("fault", [...report.kinds, NO_FAULT]));
  view.low = number("low");
  view.high = number("high");
  const question = number("question"); // counted from 1
  view.question = Number.isInteger(question) && report.questions[question - 1] !== undefined ? question - 1 : null;
  view.sort = SORTS.includes(given.get("sort")) ? given.get("sort") : "row";
  view.diff = given.get("diff") !== "off";
  return view;
}

function writeFragment(view) {
  const parts = new URLSearchParams();
  if (view.q.trim()) parts.set("q", view.q.trim());
  if (view.decision.size) parts.set("decision", DECISIONS.filter((each) => view.decision.has(each)).join(","));
  if (view.fault.size) parts.set("fault", [...view.fault].join(","));
  if (view.low !== null) parts.set("low", view.low);
  if (view.high !== null) parts.set("high", view.high);
  if (view.question !== null) parts.set("question", view.question + 1);
  if (view.sort !== "row") parts.set("sort", view.sort);
  if (!view.diff) parts.set("diff", "off");
  return parts.toString().replaceAll("%2C", ",");
}

// Return the words and the phrases in quotation marks of a search, in lower case.
function searchTerms(text) {
  return Array.from(text.toLowerCase().matchAll(/"([^"]+)"|[^\s"]+/g), (found) => (found[1] ?? found[0]).trim()).filter(
    Boolean,
  );
}

// Return the text of a pair in which a search looks, in lower case.
function searchable(pair) {
  pair.searched ??= [pair.id, pair.column, pair.question, pair.paraphrase, pair.error, ...PairView.messages(pair)]
    .join("\n")
    .toLowerCase();
  return pair.searched;
}

function selectPairs(report, view) {
  const terms = searchTerms(view.q);
  const chosen = report.pairs.filter(
    (pair) =>
      (!view.decision.size || view.decision.has(pair.decision)) &&
      (view.question === null || pair.questionIndex === view.question) &&
      (view.low === null || (pair.score !== null && pair.score >= view.low)) &&
      (view.high === null || (pair.score !== null && pair.score <= view.high)) &&
      (!view.fault.size || faultsOf(pair).some((kind) => view.fault.has(kind))) &&
      terms.every((term) => searchable(pair).includes(term)),
  );
  return sortPairs(chosen, view.sort, report);
}

function sortPairs(pairs, sort, report) {
  // pairs without a score come last
  const compareScores = (a, b, sign) =>
    (a.score === null) - (b.score === null) || sign * ((a.score ?? 0) - (b.score ?? 0)) || a.index - b.index;
  if (sort === "score") return pairs.sort((a, b) => compareScores(a, b, 1));
  if (sort === "-score") return pairs.sort((a, b) => compareScores(a, b, -1));
  if (sort === "question") {
    const place = new Map(questionRanking(report).map((question, at) => [question.index, at]));
    return pairs.sort((a, b) => place.get(a.questionIndex) - place.get(b.questionIndex) || compareScores(a, b, 1));
  }
  return pairs;
}

// Return the questions, those with most invalid paraphrases first; then the larger share, then the lower mean score.
function questionRanking(report) {
  if (report.ranking) return report.ranking;
  const questions = report.questions.map((text, index) => ({ index, text, pairs: 0, invalid: 0, scored: 0, sum: 0 }));
  for (const pair of report.pairs) {
    const question = questions[pair.questionIndex];
    question.pairs++;
    if (pair.decision === "invalid") question.invalid++;
    if (pair.score !== null) {
      question.scored++;
      question.sum += pair.score;
    }
  }
  const mean = (question) => (question.scored ? question.sum / question.scored : 2);
  report.ranking = questions.sort(
    (a, b) =>
      b.invalid - a.invalid || b.invalid / b.pairs - a.invalid / a.pairs || mean(a) - mean(b) || a.index - b.index,
  );
  return report.ranking;
}

// Describe the choice in words, for the count and for print.
function describeView(view, report) {
  const parts = [];
  if (view.decision.size) {
    parts.push(DECISIONS.filter((each) => view.decision.has(each)).map((each) => DECISION_NAMES[each].toLowerCase()).join(" or "));
  }
  if (view.fault.size) parts.push([...view.fault].map((kind) => nameOfFault(kind).toLowerCase()).join(" or "));
  if (view.low !== null && view.high !== null) parts.push(`score from ${exactScore(view.low)} to ${exactScore(view.high)}`);
  else if (view.low !== null) parts.push(`score of at least ${exactScore(view.low)}`);
  else if (view.high !== null) parts.push(`score of at most ${exactScore(view.high)}`);
  if (view.q.trim()) parts.push(`containing “${view.q.trim()}”`);
  if (view.question !== null) parts.push(`of the question “${report.questions[view.question]}”`);
  return parts.join("; ");
}
