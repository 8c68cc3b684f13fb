import type { CaseNoise, LimitSource, MetricNoise } from "#api/benchmark-noise.ts";
import type { Paint } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { caseText } from "./figure-text.ts";

const sources: Readonly<Record<LimitSource, string>> = {
  exact: "every difference counts",
  least: "the smallest change that is reported",
  history: "from the differences of 30 artifacts",
  runs: "twice the spread of its runs",
  "self-tests": "self-tests",
  unseen: "its spread is not known",
};

/** Lists each metric of a case with its measured noise, by kind of machine. */
export function noiseLines({ case: testCase, suite, machines }: CaseNoise, paint: Paint): string[] {
  const title = paint.bold(caseText(testCase)) + paint.dim(`  suite ${suite}`);
  if (machines.length === 0) return [title, "It has not been measured yet."];
  return [
    title,
    ...machines.flatMap(({ fingerprint, collectors, metrics }) => [
      "",
      `machine ${fingerprint.slice(0, 8)}${collectors.length === 0 ? "" : ` (${collectors.map(printableLine).join(", ")})`}`,
      ...tableLines(
        metrics.map((each) => [
          `  ${each.metric.name}`,
          each.metric.nature,
          runsText(each),
          selfTestsText(each),
          each.from === "exact" ? "any change" : `reported from ${percent(each.limit)}`,
          paint.dim(sources[each.from]),
        ]),
      ),
    ]),
  ];
}

function runsText({ runs }: MetricNoise): string {
  if (runs.length === 0) return "runs: not seen";
  const most = Math.max(...runs.map(({ scatter }) => scatter));
  return `runs: up to ${percent(most)} of ${runs.length}`;
}

function selfTestsText({ selfTests, selfTestsP95 }: MetricNoise): string {
  if (selfTestsP95 === null) return "self-tests: none";
  return `self-tests: ${percent(selfTestsP95)} (95 % of ${selfTests.length})`;
}

function percent(part: number): string {
  const value = part * 100;
  return value === 0 ? "0 %" : `${value < 0.01 ? value.toPrecision(1) : value.toFixed(2)} %`;
}
