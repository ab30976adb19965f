// Unpack the data of the report: gzip in base64 in the variable REPORT_DATA, as runs/report/page.py writes it.
"use strict";

const DECISIONS = ["valid", "review", "invalid", "error"];
const DECISION_NAMES = { valid: "Valid", review: "Review", invalid: "Invalid", error: "Not scored" };
const DECISION_SIGNS = { valid: "✓", review: "?", invalid: "✕", error: "–" };
const NO_FAULT = "none"; // the name of the filter for pairs that are not valid although no fault is named

const formatCount = new Intl.NumberFormat("en-US").format;
const plural = (count, noun) => `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
const formatScore = (score, digits = 2) => score.toFixed(digits).replace("-", "−");

const exactScore = (score) => String(score).replace("-", "−");

function formatShare(part, whole) {
  if (!whole) return "0%";
  const share = (100 * part) / whole;
  if (part && share < 0.1) return "<0.1%";
  if (part < whole && share > 99.9) return ">99.9%";
  return `${share.toFixed(1)}%`;
}

// Create an element with attributes and children. Strings become text nodes, so no text is ever read as HTML.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

async function unpack(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// Return the report with its pairs as objects. The order of the fields is that of runs/report/page.py.
async function loadReport() {
  const report = await unpack(REPORT_DATA);
  report.pairs = report.pairs.map(
    ([row, question, paraphrase, score, decision, evidence, warnings, error, id, column], index) => ({
      index,
      row,
      questionIndex: question,
      question: report.questions[question],
      paraphrase,
      score,
      decision: DECISIONS[decision],
      evidence: evidence.map(([kind, questionSpans, paraphraseSpans, message, delta]) => ({
        kind: report.kinds[kind],
        question_spans: questionSpans,
        paraphrase_spans: paraphraseSpans,
        message,
        delta,
      })),
      warnings,
      error,
      id,
      column,
    }),
  );
  return report;
}

// Return the kinds of fault of a pair: those of its evidence if it is invalid or for review.
function faultsOf(pair) {
  if (pair.decision === "valid" || pair.decision === "error") return [];
  const kinds = new Set(pair.evidence.map((piece) => piece.kind));
  return kinds.size ? [...kinds] : [NO_FAULT];
}

// Return the kinds of fault with the number of invalid pairs and pairs for review, the most common kind first.
function faultCounts(report) {
  const counts = new Map();
  for (const pair of report.pairs) for (const kind of faultsOf(pair)) counts.set(kind, (counts.get(kind) || 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => (a === NO_FAULT) - (b === NO_FAULT) || m - n || (a < b ? -1 : 1));
}

const nameOfFault = (kind) => (kind === NO_FAULT ? "No fault named" : PairView.faultName(kind));
