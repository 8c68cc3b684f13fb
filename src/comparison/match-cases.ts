import { caseKey, type TestCase } from "#core/test-case.ts";
import type { MeasuredCase, PairedCase } from "./measured.ts";

/** All data of one case on both sides. */
export interface MatchedCase {
  readonly key: string;
  readonly case: TestCase;
  /** Newest first. */
  readonly before: readonly MeasuredCase[];
  readonly after: readonly MeasuredCase[];
  readonly pairs: readonly PairedCase[];
}

/** Groups data by case, in the order of first occurrence in: after, before, pairs. */
export function matchCases(
  before: readonly MeasuredCase[],
  after: readonly MeasuredCase[],
  pairs: readonly PairedCase[],
): MatchedCase[] {
  const found = new Map<
    string,
    {
      key: string;
      case: TestCase;
      before: MeasuredCase[];
      after: MeasuredCase[];
      pairs: PairedCase[];
    }
  >();
  const at = (testCase: TestCase) => {
    const key = caseKey(testCase);
    let matched = found.get(key);
    if (matched === undefined) {
      matched = { key, case: testCase, before: [], after: [], pairs: [] };
      found.set(key, matched);
    }
    return matched;
  };
  for (const each of after) at(each.case).after.push(each);
  for (const each of before) at(each.case).before.push(each);
  for (const each of pairs) at(each.case).pairs.push(each);
  return [...found.values()];
}

/** The value of one metric on one side. */
export interface Figure {
  readonly value: number;
  readonly measured: MeasuredCase;
}

export function figuresOf(measured: readonly MeasuredCase[], metric: string): Figure[] {
  const figures: Figure[] = [];
  for (const each of measured) {
    const value = each.values[metric];
    if (value !== undefined && Number.isFinite(value)) figures.push({ value, measured: each });
  }
  return figures;
}

/**
 * Returns the figures of the machine that measured the later side last, among the machines that measured both sides.
 */
export function newestCommon(
  before: readonly Figure[],
  after: readonly Figure[],
): { before: Figure; after: Figure } | undefined {
  for (const later of after) {
    const earlier = before.find(
      ({ measured }) => measured.fingerprint === later.measured.fingerprint,
    );
    if (earlier !== undefined) return { before: earlier, after: later };
  }
  return undefined;
}
