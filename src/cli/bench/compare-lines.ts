import type {
  CaseComparison,
  MetricSummary,
  PairsEvidence,
  Verdict,
} from "#api/benchmark-comparison.ts";
import { statedChange } from "#comparison/summarise.ts";
import { verdictSentence } from "#comparison/verdict-sentence.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import type { Paint } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import type { LocalComparison } from "./compare-locally.ts";
import { caseText, changeText, figureText } from "./figure-text.ts";

interface HowToShow {
  /** The command that would show whether times changed. */
  readonly toKnow: string;
  readonly all: boolean;
  readonly metric: string | undefined;
  readonly paint: Paint;
  /** Why there is nothing to compare, if so. */
  readonly why: string | undefined;
}

/** Returns a verdict in a sentence, a row for each metric, then cases: the largest change first. */
export function comparisonLines(comparison: LocalComparison, how: HowToShow): string[] {
  const { suite, before, after, metrics, cases, missing, newlyBroken } = comparison;
  const { paint, all, metric } = how;
  const title = paint.bold(`${before} → ${after}`) + paint.dim(`  suite ${suite}`);
  if (how.why !== undefined) return [title, "", how.why];
  const deciding = metrics.filter(({ decides }) => decides).map(({ name }) => name);
  const inView = (name: string) =>
    metric === undefined ? all || deciding.includes(name) : name === metric;
  const relevant = cases.filter(({ relevant }) => relevant);
  const told = { ...comparison, summaries: [...comparison.summaries], missing: [...missing] };
  const sentence = verdictSentence({
    ...told,
    changes: relevant,
    newlyBroken: [...newlyBroken],
    deciding,
  });
  const shown = cases.filter((each) => inView(each.metric) && (all || isPrintedState(each)));
  const hidden = cases.filter((each) => inView(each.metric)).length - shown.length;
  return [
    title,
    "",
    sentence,
    "",
    ...summaryLines(
      comparison.summaries.filter((each) => inView(each.metric)),
      cases,
      paint,
    ),
    ...caseLines(shown.toSorted(byChange), metrics, paint),
    ...(hidden === 0
      ? []
      : [
          "",
          paint.dim(
            `${hidden} ${hidden === 1 ? "row" : "rows"} without a relevant change are hidden; --all shows them`,
          ),
        ]),
    ...noisyHint(cases, inView, how.toKnow),
    ...missing
      .slice(0, 20)
      .map(
        ({ case: testCase, missing: side, error }) =>
          `${paint.yellow("missing")} ${side === "before" ? before : after}: ${caseText(testCase)}${error === null ? "" : `: ${firstLine(error)}`}`,
      ),
    ...newlyBroken.map(
      ({ benchmark, message }) => `${paint.red("broken")} ${benchmark}: ${firstLine(message)}`,
    ),
  ];
}

function isPrintedState({ relevant, verdict }: CaseComparison): boolean {
  return (
    relevant || verdict === "regressed" || verdict === "improved" || verdict === "unlike-machines"
  );
}

function byChange(a: CaseComparison, b: CaseComparison): number {
  return size(b) - size(a);
}
function size(of: CaseComparison): number {
  const change = statedChange(of);
  return change === null ? Number.POSITIVE_INFINITY : Math.abs(change);
}

function summaryLines(
  summaries: readonly MetricSummary[],
  cases: readonly CaseComparison[],
  paint: Paint,
): string[] {
  const rows = summaries.map((summary) => {
    const tallies = [summary.primary, summary.secondary];
    const count = (which: "regressions" | "improvements") =>
      tallies.reduce((sum, tally) => sum + tally[which].count, 0);
    const its = cases.filter(({ metric }) => metric === summary.metric);
    const changes = its.flatMap((each) => statedChange(each) ?? []);
    const [least, most] = [Math.min(...changes), Math.max(...changes)].map(changeText);
    const [worse, better] = [count("regressions"), count("improvements")];
    return [
      summary.metric,
      worse === 0 ? "0" : paint.red(`${worse}`),
      better === 0 ? "0" : paint.green(`${better}`),
      `${summary.undecided}`,
      `${its.length}`,
      changes.length === 0 ? "–" : least === most ? `${least}` : `${least} to ${most}`,
      summary.accumulated === null ? "–" : changeText(summary.accumulated),
    ];
  });
  if (rows.length === 0) return [];
  const head = ["metric", "worse", "better", "undecided", "cases", "range", "total"];
  return [...tableLines([head.map((word) => paint.dim(word)), ...rows]), ""];
}

function caseLines(
  cases: readonly CaseComparison[],
  metrics: readonly Metric[],
  paint: Paint,
): string[] {
  if (cases.length === 0) return [];
  const unitOf = new Map(metrics.map(({ name, unit }) => [name, unit]));
  const rows = cases.map((each) => {
    const unit = unitOf.get(each.metric) ?? "count";
    const tint = tintOf(each.verdict, paint);
    return [
      tint(changeText(statedChange(each))),
      tint(verdictText(each)),
      each.metric,
      caseText(each.case),
      figureText(each.before, unit),
      figureText(each.after, unit),
      paint.dim(evidenceText(each)),
    ];
  });
  const head = ["change", "verdict", "metric", "case", "before", "after", ""];
  return tableLines([head.map((word) => paint.dim(word)), ...rows]);
}

function tintOf(verdict: Verdict, paint: Paint): (text: string) => string {
  if (verdict === "regressed") return (text) => paint.red(text);
  if (verdict === "improved") return (text) => paint.green(text);
  return (text) => text;
}

const sizes = ["", "very small", "small", "medium", "large", "very large"];

function verdictText({ verdict, magnitude }: CaseComparison): string {
  const isChange = verdict === "regressed" || verdict === "improved";
  const size = sizes[magnitude] ?? "";
  if (verdict === "no-change") return "no change";
  if (verdict === "unlike-machines") return "different machines";
  return isChange && size !== "" ? `${verdict}, ${size}` : verdict;
}

function evidenceText({ evidence, warnings }: CaseComparison): string {
  // Disturbances of the machine affect times and memory, but not counts.
  const doubts = warnings.length === 0 ? "" : `; ${warnings[0]}`;
  switch (evidence.by) {
    case "fence":
      if (evidence.exact) return "equal";
      return evidence.threshold === 0
        ? ""
        : `relevant from ${changeText(evidence.threshold).slice(1)}`;
    case "pairs":
      return `${evidence.pairs} pairs: ${changeText(evidence.low)} to ${changeText(evidence.high)}${confirmedText(evidence)}${doubts}`;
    case "hint":
      return `separate runs do not decide${doubts}`;
  }
}

export function confirmedText({ confirmed }: PairsEvidence): string {
  if (confirmed === null) return "";
  return confirmed ? ", confirmed" : ", not confirmed";
}

function noisyHint(
  cases: readonly CaseComparison[],
  inView: (metric: string) => boolean,
  toKnow: string,
): string[] {
  const hints = cases.filter(({ evidence, metric }) => evidence.by === "hint" && inView(metric));
  if (hints.length === 0) return [];
  const names = [...new Set(hints.map(({ metric }) => metric))].join(", ");
  return ["", `${names}: too noisy for a verdict from separate runs. To get one: ${toKnow}`];
}

function firstLine(text: string): string {
  return printableLine(text.split("\n", 1)[0] ?? "");
}
