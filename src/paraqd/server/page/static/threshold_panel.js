// The distribution of the scores with the threshold on it. Moving the threshold decides all pairs again at once;
// releasing it saves it.

import { button, h, replace, svg } from "./dom.js";
import { decide, percent, plural, score } from "./words.js";

const BARS = 50;
const HEIGHT = 56;
const WIDTH = 400;

export class ThresholdPanel {
  /** `on` has the functions try(rule), save(rule) and suggest(). A rule is {threshold, review}. */
  constructor(on) {
    this.on = on;
    this.scores = [];
    this.rule = { threshold: 0.5, review: null };
    this.saved = this.rule;
    this.lastBand = [0.3, 0.7];
    const slider = (label, style, change) =>
      h("input", { type: "range", min: -1, max: 1, step: 0.01, class: style, "aria-label": label, oninput: change, onchange: () => this.save() });
    this.threshold = slider("Threshold", "slider slider-threshold", () => this.move({ threshold: Number(this.threshold.value) }));
    this.low = slider("Check by hand from", "slider slider-band", () => this.moveBand("low"));
    this.high = slider("Check by hand up to", "slider slider-band", () => this.moveBand("high"));
    this.bandSwitch = h("input", { type: "checkbox", role: "switch", onchange: () => this.turnBand(this.bandSwitch.checked) });
    this.plot = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "histogram", role: "img", "aria-label": "Scores" });
    this.figure = h("output", { class: "threshold-figure" });
    this.bandFigure = h("span", { class: "hint band-figure" });
    this.bandSliders = h("div", { class: "band-sliders" }, this.low, this.high);
    this.advice = h("div", { class: "advice", "aria-live": "polite" });
    this.element = h(
      "details",
      { class: "threshold-panel" },
      h("summary", {}, h("span", {}, "Threshold"), this.figure),
      h("div", { class: "threshold-plot" }, this.plot, this.threshold),
      h("div", { class: "threshold-axis", "aria-hidden": "true" }, ...["−1", "−0.5", "0", "0.5", "1"].map((text) => h("span", {}, text))),
      this.bandSliders,
      h(
        "div",
        { class: "threshold-row" },
        h("label", { class: "switch" }, this.bandSwitch, h("span", {}, "Check uncertain pairs by hand")),
        this.bandFigure,
        button("Suggest", { kind: "quiet small", title: "Suggest a threshold from your decisions", onclick: () => this.on.suggest() }),
      ),
      this.advice,
    );
    this.drawRule();
  }

  setScores(scores) {
    this.scores = scores.filter((number) => number !== null);
    this.drawBars();
  }

  /** Take over the rule of the project, unless somebody is moving it. */
  setProject({ threshold, review }) {
    this.saved = { threshold, review };
    if (this.moving) return;
    this.rule = this.saved;
    if (review) this.lastBand = review;
    this.drawRule();
    this.drawBars();
  }

  move(change) {
    this.moving = true;
    const { threshold, review } = { ...this.rule, ...change };
    // The band always holds the threshold: a score beside it is the least certain of all.
    this.rule = { threshold, review: review && [Math.min(review[0], threshold), Math.max(review[1], threshold)] };
    this.drawRule();
    this.drawBars();
    this.on.try(this.rule);
  }

  moveBand(side) {
    const [low, high] = [Number(this.low.value), Number(this.high.value)];
    const { threshold } = this.rule;
    this.move({ review: side === "low" ? [Math.min(low, threshold), high] : [low, Math.max(high, threshold)] });
    this.drawRule();
  }

  turnBand(on) {
    this.move({ review: on ? this.lastBand : null });
    this.save();
  }

  save() {
    this.moving = false;
    if (this.rule.review) this.lastBand = this.rule.review;
    this.on.save(this.rule);
  }

  counts() {
    const counts = { valid: 0, review: 0, invalid: 0 };
    for (const number of this.scores) counts[decide(number, this.rule.threshold, this.rule.review)] += 1;
    return counts;
  }

  drawRule() {
    const { threshold, review } = this.rule;
    this.threshold.value = threshold;
    this.threshold.setAttribute("aria-valuetext", `${score(threshold)}: ${plural(this.counts().valid, "valid pair")}`);
    this.figure.textContent = score(threshold);
    this.bandSwitch.checked = review !== null;
    this.bandSliders.hidden = review === null;
    this.bandFigure.textContent = review ? `${score(review[0])} to ${score(review[1])}` : "";
    if (review) [this.low.value, this.high.value] = review;
  }

  drawBars() {
    const { threshold, review } = this.rule;
    const bars = Array.from({ length: BARS }, () => ({ valid: 0, review: 0, invalid: 0 }));
    for (const number of this.scores) {
      const at = Math.min(BARS - 1, Math.max(0, Math.floor(((number + 1) / 2) * BARS)));
      bars[at][decide(number, threshold, review)] += 1;
    }
    const sums = bars.map((bar) => bar.valid + bar.review + bar.invalid);
    const tallest = Math.sqrt(Math.max(1, ...sums)); // square roots keep rare scores visible beside −1 and 1
    const width = WIDTH / BARS;
    const drawn = bars.flatMap((bar, index) => {
      let y = HEIGHT;
      return ["invalid", "review", "valid"].filter((kind) => bar[kind]).map((kind) => {
        const height = (Math.sqrt(sums[index]) / tallest) * (HEIGHT - 4) * (bar[kind] / sums[index]);
        y -= height;
        return svg("rect", { class: `bar bar-${kind}`, x: index * width + 0.75, width: width - 1.5, y, height });
      });
    });
    const x = (number) => ((number + 1) / 2) * WIDTH;
    const band = review && svg("rect", { class: "band", x: x(review[0]), width: Math.max(1, x(review[1]) - x(review[0])), y: 0, height: HEIGHT });
    replace(this.plot, band, drawn);
    const counts = this.counts();
    this.plot.setAttribute("aria-label", `Scores of ${plural(this.scores.length, "pair")}: ${counts.invalid} invalid, ${counts.review} to check by hand, ${counts.valid} valid. The height of a bar is the square root of its number.`);
  }

  /** Show the answer to the request for a suggestion. */
  showAdvice(answer) {
    const found = answer.suggestion;
    if (!found) {
      replace(this.advice, h("p", { class: "hint" }, answer.why ?? "There are too few decisions for a suggestion."));
      return;
    }
    const band = found.band ? (Array.isArray(found.band) ? found.band : [found.band.low, found.band.high]) : null;
    const gain = Number.isFinite(found.right_before) && Number.isFinite(found.right_after) ? ` It agrees with ${percent(found.right_after)} of ${plural(found.decided, "decision")}, now ${percent(found.right_before)}.` : "";
    replace(
      this.advice,
      h("p", {}, h("strong", {}, `Suggested: ${score(found.threshold)}`), band && `, check by hand from ${score(band[0])} to ${score(band[1])}`, ".", gain),
      found.note && h("p", { class: "hint" }, found.note),
      button("Apply", {
        kind: "small",
        onclick: () => {
          this.move({ threshold: found.threshold, review: band });
          this.save();
          replace(this.advice);
          this.threshold.focus();
        },
      }),
    );
  }
}
