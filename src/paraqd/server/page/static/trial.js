// The list under a threshold that is not saved yet.

const STEP = 1e-9; // the distance to the next score, for bounds that do not belong to the range

/**
 * Return a filter with the verdicts replaced by the range of scores that they would have under another rule. Where
 * they are not one range, the filter stays as it is.
 */
export function boundsFor(filter, { threshold, review }) {
  if (!filter.decision) return filter;
  const wanted = new Set(filter.decision.split(","));
  if (wanted.has("error") || (review && wanted.has("valid") && wanted.has("invalid") && !wanted.has("review"))) return filter;
  const [bottom, top] = review ?? [threshold, threshold];
  let low = -1;
  let high = 1;
  if (!wanted.has("invalid")) low = wanted.has("review") && review ? bottom : top + STEP;
  if (!wanted.has("valid")) high = wanted.has("review") && review ? top : bottom - (review ? STEP : 0);
  const { decision, ...others } = filter;
  if (low > high) return filter;
  return { ...others, low: Math.max(low, filter.low ?? -1), high: Math.min(high, filter.high ?? 1) };
}
