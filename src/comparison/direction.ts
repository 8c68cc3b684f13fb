import type { Direction } from "#api/benchmark-comparison.ts";
import { large, medium } from "./magnitude.ts";

/** The properties of one relevant change that determine the direction of a group. */
interface RelevantChange {
  readonly regression: boolean;
  readonly magnitude: number;
}

/** Returns the direction of a group of relevant changes, by rustc-perf's rules. */
export function directionOf(changes: readonly RelevantChange[]): Direction {
  const regressions = changes.filter(({ regression }) => regression);
  const improvements = changes.filter(({ regression }) => !regression);
  if (changes.length === 0) return "none";
  if (improvements.length === 0) return "regression";
  if (regressions.length === 0) return "improvement";
  const share = regressions.length / changes.length;
  const greatRegression = regressions.some(({ magnitude }) => magnitude >= medium);
  const greatImprovement = improvements.some(({ magnitude }) => magnitude >= medium);
  if (greatRegression && greatImprovement) return "mixed";
  if (greatImprovement) return share >= 0.15 ? "mixed" : "improvement";
  if (greatRegression) return share < 0.85 ? "mixed" : "regression";
  if (share >= 0.1 && share <= 0.9) return "mixed";
  return share > 0.9 ? "regression" : "improvement";
}

/** Joins directions; the order is none < improvement, regression < mixed. */
export function joinDirections(directions: readonly Direction[]): Direction {
  const some = new Set(directions.filter((direction) => direction !== "none"));
  if (some.size > 1) return "mixed";
  const [only = "none"] = some;
  return only;
}

/** Returns whether the change is large enough that a person should check it, by rustc-perf's rule. */
export function deservesAttention(
  primary: readonly RelevantChange[],
  secondary: readonly RelevantChange[],
): boolean {
  return (
    primary.some(({ magnitude }) => magnitude >= medium) ||
    secondary.some(({ magnitude }) => magnitude >= large) ||
    3 * primary.length + secondary.length >= 9
  );
}
