import type { CaseComparison, Comparison } from "#api/benchmark-comparison.ts";
import { caseTitle } from "../benchmarks/case-words.ts";
import { changeText, valueText } from "../benchmarks/figure-text.ts";
import { evidenceText, statedChange, verdictText } from "./verdict-words.ts";

/** Returns the visible table in Markdown. */
export function comparisonMarkdown(
  { before, after, metric, metrics, summaries, newlyBroken, suite }: Comparison,
  cases: readonly CaseComparison[],
  address: string,
): string {
  const unit = metrics.find(({ name }) => name === metric)?.unit ?? "count";
  const summary = summaries.find((each) => each.metric === metric);
  return [
    `**${cell(suite)}: ${cell(before.tag)} → ${cell(after.tag)}, ${metric}** ([full comparison](${address}))`,
    "",
    ...(summary === undefined
      ? []
      : [
          `${summary.primary.regressions.count} regressed and ${summary.primary.improvements.count} improved among primary benchmarks, ${summary.undecided} undecided.`,
          "",
        ]),
    "| case | change | before | after | evidence | verdict |",
    "|---|---:|---:|---:|---|---|",
    ...cases.map(
      (each) =>
        `| ${[
          cell(caseTitle(each.case)),
          changeText(statedChange(each)),
          valueText(each.before, unit),
          valueText(each.after, unit),
          evidenceText(each),
          verdictText(each),
        ].join(" | ")} |`,
    ),
    ...(newlyBroken.length === 0
      ? []
      : ["", `Newly broken: ${newlyBroken.map(({ benchmark }) => cell(benchmark)).join(", ")}.`]),
    "",
  ].join("\n");
}

function cell(text: string): string {
  return text.replaceAll(/[\\|`*_<>[\]]/g, "\\$&");
}
