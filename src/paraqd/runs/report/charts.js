// Draw the summary: the counts, the distribution of scores, the faults by kind and the worst questions.
"use strict";

const BINS = 40; // of width 0.05; the upper edge belongs to a bin, as a score equal to the threshold is not valid
const WORST_SHOWN = 6;

function svgElement(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

// --- the counts ----------------------------------------------------------------------------------------------------

const countOf = (report, decision) => report.summary[decision === "error" ? "errors" : decision];

function headline(report) {
  const { rows, valid, invalid, review, errors } = report.summary;
  if (!rows) return "The file has no pairs.";
  const parts = [`${formatCount(valid)} of ${plural(rows, "paraphrase")} ${valid === 1 ? "is" : "are"} valid`];
  if (invalid) parts.push(`${formatCount(invalid)} ${invalid === 1 ? "is" : "are"} invalid`);
  if (review) parts.push(`${formatCount(review)} ${review === 1 ? "needs" : "need"} a person’s decision`);
  if (errors) parts.push(`${formatCount(errors)} could not be scored`);
  const last = parts.pop();
  return parts.length ? `${parts.join(", ")}${parts.length > 1 ? "," : ""} and ${last}.` : `${last}.`;
}

function drawShare(box, report) {
  const shown = DECISIONS.filter((decision) => countOf(report, decision));
  box.replaceChildren(
    ...shown.map((decision) => {
      const part = element("span", { class: `part ${decision}` });
      part.style.flexGrow = countOf(report, decision);
      return part;
    }),
  );
}

function drawTiles(list, report, choose) {
  const { rows, warned } = report.summary;
  const shown = DECISIONS.filter((decision) => decision === "valid" || decision === "invalid" || countOf(report, decision));
  const tiles = shown.map((decision) =>
    element(
      "li",
      {},
      element(
        "button",
        { type: "button", class: `tile ${decision}`, onclick: () => choose({ decision: new Set([decision]) }) },
        element("span", { class: "figure" }, formatCount(countOf(report, decision))),
        element(
          "span",
          { class: "name" },
          element("span", { class: "sign", "aria-hidden": "true" }, DECISION_SIGNS[decision]),
          ` ${DECISION_NAMES[decision]}`,
        ),
        element("span", { class: "muted" }, formatShare(countOf(report, decision), rows)),
      ),
    ),
  );
  const plain = [
    [report.questions.length, report.questions.length === 1 ? "question" : "questions"],
    [warned, warned === 1 ? "pair with a warning" : "pairs with warnings"],
  ];
  for (const [count, name] of plain) {
    if (count) {
      const figure = element("span", { class: "figure" }, formatCount(count));
      tiles.push(element("li", { class: "tile plain" }, figure, element("span", { class: "name" }, name)));
    }
  }
  list.replaceChildren(...tiles);
}

// --- the distribution of scores ------------------------------------------------------------------------------------

function scoreBins(report) {
  const bins = Array.from({ length: BINS }, (_, index) => ({
    low: (index - BINS / 2) / (BINS / 2),
    high: (index + 1 - BINS / 2) / (BINS / 2),
    total: 0,
    valid: 0,
    review: 0,
    invalid: 0,
  }));
  for (const pair of report.pairs) {
    if (pair.score === null || pair.decision === "error") continue;
    const index = Math.ceil((pair.score + 1) * (BINS / 2) - 1e-9) - 1;
    const bin = bins[Math.max(0, Math.min(BINS - 1, index))];
    bin.total++;
    bin[pair.decision]++;
  }
  return bins;
}

// Return a number of at least `value` that is easy to read on an axis.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= value);
}

function drawScores(figure, report) {
  const bins = scoreBins(report);
  const { threshold, band, summary } = report;
  const caption = element("figcaption", {}, element("h3", {}, "Scores"));
  const says = [];
  if (threshold !== null) says.push(`A pair is valid if its score is above ${exactScore(threshold)}.`);
  if (band) says.push(`Scores from ${exactScore(band[0])} to ${exactScore(band[1])} are uncertain: review these pairs.`);
  if (summary.errors) says.push(`${plural(summary.errors, "pair")} without a score ${summary.errors === 1 ? "is" : "are"} not shown here.`);
  caption.append(element("p", { class: "muted" }, says.join(" ")));
  const plot = element("div", { class: "plot" });
  const readout = element("p", { class: "readout muted", "aria-hidden": "true" });
  const used = bins.filter((bin) => bin.total);
  const cells = used.map((bin) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, `${formatScore(bin.low)} to ${formatScore(bin.high)}`),
      ...["valid", "review", "invalid"].map((decision) => element("td", {}, formatCount(bin[decision]))),
    ),
  );
  const head = ["Score", "Valid", "Review", "Invalid"].map((name) => element("th", { scope: "col" }, name));
  const table = element(
    "details",
    { class: "table" },
    element("summary", {}, "Show as a table"),
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...cells)),
  );
  const legend = element(
    "p",
    { class: "legend", "aria-hidden": "true" },
    ...["valid", "review", "invalid"]
      .filter((decision) => summary[decision])
      .map((decision) => element("span", {}, element("i", { class: decision }), DECISION_NAMES[decision])),
  );
  figure.replaceChildren(caption, plot, element("div", { class: "under" }, legend, readout), used.length ? table : "");
  const draw = () => plot.replaceChildren(histogram(bins, report, plot.clientWidth || 600, readout));
  new ResizeObserver(draw).observe(plot);
  draw();
}

function histogram(bins, report, width, readout) {
  const height = 190;
  const [left, right, top, bottom] = [44, 10, 24, 24];
  const most = roundUp(Math.max(1, ...bins.map((bin) => bin.total)));
  const x = (score) => left + ((score + 1) / 2) * (width - left - right);
  const y = (count) => height - bottom - (count / most) * (height - top - bottom);
  const below = report.pairs.filter((pair) => pair.decision === "invalid").length;
  const svg = svgElement("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `Distribution of the scores of ${plural(report.summary.rows - report.summary.errors, "pair")}; ${formatCount(below)} invalid. The table below has the figures.`,
  });
  for (const share of [0, 0.5, 1]) {
    const count = most * share;
    svg.append(svgElement("line", { class: "grid", x1: left, x2: width - right, y1: y(count), y2: y(count) }));
    if (Number.isInteger(count)) {
      svg.append(svgElement("text", { class: "tick", x: left - 8, y: y(count) + 4, "text-anchor": "end" }, formatCount(count)));
    }
  }
  if (report.band) {
    const [low, high] = report.band;
    svg.append(svgElement("rect", { class: "band", x: x(low), width: Math.max(1, x(high) - x(low)), y: top, height: height - top - bottom }));
  }
  for (const bin of bins) {
    let base = 0;
    for (const decision of ["invalid", "review", "valid"]) {
      if (!bin[decision]) continue;
      // a bin with few pairs stays visible beside one with thousands
      const tall = Math.max(1.5, y(base) - y(base + bin[decision]));
      svg.append(svgElement("rect", { class: decision, x: x(bin.low) + 0.75, width: Math.max(1, x(bin.high) - x(bin.low) - 1.5), y: y(base) - tall, height: tall, rx: 1 }));
      base += bin[decision];
    }
    const area = svgElement("rect", { class: "area", x: x(bin.low), width: x(bin.high) - x(bin.low), y: top, height: height - top - bottom });
    area.addEventListener("pointerenter", () => {
      readout.textContent = `${formatScore(bin.low)} to ${formatScore(bin.high)}: ${plural(bin.total, "pair")}`;
    });
    area.addEventListener("pointerleave", () => (readout.textContent = ""));
    svg.append(area);
  }
  const steps = width < 420 ? [-1, 0, 1] : [-1, -0.5, 0, 0.5, 1];
  for (const score of steps) {
    const anchor = score === -1 ? "start" : score === 1 ? "end" : "middle";
    svg.append(svgElement("text", { class: "tick", x: x(score), y: height - 6, "text-anchor": anchor }, formatScore(score, score % 1 ? 1 : 0)));
  }
  if (report.threshold !== null) {
    const at = x(Math.max(-1, Math.min(1, report.threshold)));
    svg.append(svgElement("line", { class: "threshold", x1: at, x2: at, y1: top - 4, y2: height - bottom }));
    const end = report.threshold > 0.4;
    svg.append(
      svgElement("text", { class: "threshold-name", x: end ? at + 4 : at - 4, y: top - 8, "text-anchor": end ? "end" : "start" }, `threshold ${exactScore(report.threshold)}`),
    );
  }
  return svg;
}

// --- faults and questions ------------------------------------------------------------------------------------------

function drawFaults(figure, report, choose) {
  const counts = Object.entries(report.summary.faults);
  if (report.summary.unnamed) counts.push([NO_FAULT, report.summary.unnamed]);
  const most = Math.max(1, ...counts.map(([, count]) => count));
  const bars = counts.map(([kind, count]) => {
    const bar = element("span", { class: "bar" });
    bar.style.setProperty("--share", `${(100 * count) / most}%`);
    const row = [element("span", { class: "name" }, nameOfFault(kind)), element("span", { class: "figure" }, formatCount(count)), bar];
    return element("li", {}, element("button", { type: "button", class: "fault", onclick: () => choose({ decision: new Set(["invalid"]), fault: new Set([kind]) }) }, ...row));
  });
  figure.replaceChildren(
    element(
      "figcaption",
      {},
      element("h3", {}, "Faults by kind"),
      element("p", { class: "muted" }, counts.length ? "Of invalid pairs. A pair can have several faults." : "No faults were found."),
    ),
    element("ul", { class: "bars" }, ...bars),
  );
}

function drawWorst(figure, report, choose) {
  const ranked = questionRanking(report).filter((question) => question.invalid);
  const list = element("ol", { class: "questions" });
  const item = (question) => {
    const bar = element("span", { class: "bar" });
    bar.style.setProperty("--share", `${(100 * question.invalid) / question.pairs}%`);
    return element(
      "li",
      {},
      element(
        "button",
        { type: "button", class: "question", onclick: () => choose({ question: question.index, sort: "score" }) },
        element("span", { class: "text", dir: "auto" }, question.text.slice(0, 400) || "(blank)"),
        element("span", { class: "figure" }, `${formatCount(question.invalid)} of ${formatCount(question.pairs)} invalid`),
        bar,
      ),
    );
  };
  const says = element("p", { class: "muted" });
  const more = element("button", { type: "button", class: "quiet" });
  const show = (count) => {
    list.replaceChildren(...ranked.slice(0, count).map(item));
    const all = plural(ranked.length, "question");
    const rest = ranked.length === 1 ? "has an invalid paraphrase" : "have an invalid paraphrase";
    says.textContent = !ranked.length
      ? "No question has an invalid paraphrase."
      : count < ranked.length
        ? `The ${count} with most invalid paraphrases, of ${all} that ${rest}.`
        : `${all} ${rest}.`;
    const next = Math.min(ranked.length, count + 50);
    more.hidden = count >= ranked.length;
    more.textContent = `Show ${formatCount(next - count)} more`;
    more.onclick = () => {
      show(next);
      list.children[count]?.querySelector("button").focus();
    };
  };
  show(WORST_SHOWN);
  figure.replaceChildren(element("figcaption", {}, element("h3", {}, "Worst questions"), says), list, more);
}
