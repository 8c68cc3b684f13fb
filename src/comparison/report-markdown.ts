import type { CaseComparison, MetricSummary, Tally } from "#api/benchmark-comparison.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { caseKey, type TestCase } from "#core/test-case.ts";
import { codeSpan as code } from "./code-span.ts";
import { asPercent } from "./percent-text.ts";
import { statedChange } from "./summarise.ts";
import { type ReportFacts, verdictSentence } from "./verdict-sentence.ts";

/**
 * Longer lists are truncated: forges refuse comments above about 65,000 characters, and people do not read such long
 * ones.
 */
const mostListed = 20;

export interface ReportToWrite extends ReportFacts {
  /** The command that shows the same result. */
  readonly reproduce: string;
  readonly metrics: readonly Metric[];
}

/**
 * Returns a request's report as a forge shows it, in rustc-perf's layout. Every foreign word is in a code span: there
 * it is neither markup, nor a mention, nor a link.
 */
export function reportMarkdown(report: ReportToWrite): string {
  const withResults = report.summaries.filter(
    ({ primary, secondary }) => primary.all.count + secondary.all.count > 0,
  );
  const without = report.summaries.filter(
    (summary) => report.deciding.includes(summary.metric) && !withResults.includes(summary),
  );
  return [
    `### Benchmarks of ${code(report.suite)}: ${code(report.before)} → ${code(report.after)}`,
    `**${verdictSentence(report, code)}**`,
    ...listed(
      "Newly failing benchmarks",
      report.newlyBroken.map(
        ({ benchmark, message }) =>
          `${benchmark === "" ? "a whole job" : code(benchmark)}: ${code(firstLine(message))}`,
      ),
    ),
    ...withResults.map((summary) => metricSection(summary, report.metrics)),
    ...(without.length === 0
      ? []
      : [`No relevant results: ${without.map(withoutResults).join(", ")}.`]),
    ...greatest(report.changes),
    ...confirmationNote(report.changes),
    ...listed(
      "Test cases with figures for only one artifact",
      report.missing.map(
        (each) =>
          `${caseText(each.case)}: none ${each.missing}${each.error === null ? "" : ` (${code(firstLine(each.error))})`}`,
      ),
      "folded",
    ),
    `To reproduce: ${code(report.reproduce)}`,
  ].join("\n\n");
}

/** Names metrics without a judgement, which would otherwise read as if nothing had changed. */
function withoutResults({ metric, hints = 0 }: MetricSummary): string {
  if (hints === 0) return code(metric);
  const cases = `${hints} ${hints === 1 ? "case" : "cases"}`;
  return `${code(metric)} (${cases} not judged, because interleaved processes are missing)`;
}

function metricSection(summary: MetricSummary, metrics: readonly Metric[]): string {
  const higher = metrics.some(({ name, better }) => name === summary.metric && better === "higher");
  const rows: [string, Tally][] = [
    ["Regressions (primary)", summary.primary.regressions],
    ["Regressions (secondary)", summary.secondary.regressions],
    ["Improvements (primary)", summary.primary.improvements],
    ["Improvements (secondary)", summary.secondary.improvements],
    ["All (primary)", summary.primary.all],
  ];
  return [
    `#### ${code(summary.metric)}${higher ? " (higher is better)" : ""}`,
    "",
    "| | mean | geometric mean | range | count |",
    "|---|---:|---:|---:|---:|",
    ...rows.map(([title, tally]) => `| ${title} | ${tallyCells(tally)} |`),
  ].join("\n");
}

function tallyCells({ count, arithmeticMean, geometricMean, least, most }: Tally): string {
  if (count === 0) return "– | – | – | 0";
  const range = least === null ? "from nothing" : `[${asPercent(least)}, ${asPercent(most)}]`;
  const mean = (value: number | null) => (value === null ? "–" : asPercent(value));
  return `${mean(arithmeticMean)} | ${mean(geometricMean)} | ${range} | ${count}`;
}

function greatest(changes: readonly CaseComparison[]): string[] {
  const size = (each: CaseComparison) => Math.abs(statedChange(each) ?? Number.POSITIVE_INFINITY);
  const five = changes
    .toSorted((a, b) => b.magnitude - a.magnitude || (size(b) > size(a) ? 1 : -1))
    .slice(0, 5);
  if (five.length === 0) return [];
  const rows = five.map(
    (each) =>
      `| ${each.verdict} | ${caseText(each.case)} | ${code(each.metric)} | ${asPercent(statedChange(each))} | ${certainty(each)} |`,
  );
  return [
    [
      "#### The largest changes",
      "",
      "| | case | metric | change | evidence |",
      "|---|---|---|---:|---|",
      ...rows,
    ].join("\n"),
  ];
}

function certainty({ evidence }: CaseComparison): string {
  switch (evidence.by) {
    case "fence":
      return evidence.threshold === 0
        ? "every difference counts"
        : `${evidence.factor.toFixed(1)} × the threshold of ${asPercent(evidence.threshold).slice(1)}`;
    case "pairs": {
      const { low, high, level = 0.99, pairs, confirmed, again } = evidence;
      const range = again
        ? ` ([${asPercent(again.low)}, ${asPercent(again.high)}], ${again.pairs} pairs)`
        : "";
      const rerun =
        confirmed === null
          ? "not confirmed yet"
          : confirmed
            ? `confirmed${range}`
            : `not confirmed by a rerun${range}`;
      return `[${asPercent(low)}, ${asPercent(high)}] at ${(100 * level).toFixed(1)} %, ${pairs} pairs, ${rerun}`;
    }
    case "hint":
      return "a hint";
  }
}

function confirmationNote(changes: readonly CaseComparison[]): string[] {
  const noisy = changes.flatMap(({ evidence }) => (evidence.by === "pairs" ? [evidence] : []));
  if (noisy.length === 0) return [];
  const confirmed = noisy.filter((evidence) => evidence.confirmed === true).length;
  return [
    `Of ${noisy.length} ${noisy.length === 1 ? "change" : "changes"} of noisy metrics, ${confirmed} ${confirmed === 1 ? "was" : "were"} confirmed by an independent rerun.`,
  ];
}

function listed(title: string, items: readonly string[], how?: "folded"): string[] {
  if (items.length === 0) return [];
  const rest = items.length - mostListed;
  const lines = [
    ...items.slice(0, mostListed).map((item) => `- ${item}`),
    ...(rest > 0 ? [`- and ${rest} more`] : []),
  ].join("\n");
  return how === "folded"
    ? [`<details><summary>${title}: ${items.length}</summary>\n\n${lines}\n\n</details>`]
    : [`#### ${title}\n\n${lines}`];
}

function caseText(testCase: TestCase): string {
  return code(caseKey(testCase));
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
