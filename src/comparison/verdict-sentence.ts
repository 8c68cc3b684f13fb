import type {
  CaseComparison,
  Direction,
  MetricSummary,
  MissingCase,
} from "#api/benchmark-comparison.ts";
import { joinDirections } from "./direction.ts";
import { asPercent } from "./percent-text.ts";

/** The parts of a sentence and of a report. */
export interface ReportFacts {
  readonly suite: string;
  readonly before: string;
  readonly after: string;
  readonly summaries: readonly MetricSummary[];
  /** The relevant changes. */
  readonly changes: readonly CaseComparison[];
  readonly missing: readonly MissingCase[];
  readonly newlyBroken: readonly { readonly benchmark: string; readonly message: string }[];
  /** Names of the deciding metrics, on which the verdict is based. */
  readonly deciding: readonly string[];
}

/** Returns the combined direction of all deciding metrics. */
export function overallDirection(report: Pick<ReportFacts, "summaries" | "deciding">): Direction {
  return joinDirections(decidingSummaries(report).map(({ direction }) => direction));
}

/**
 * Returns the important results in one or two sentences. `name` formats untrusted names (a benchmark, a metric); by
 * default, the text is plain, for a terminal, a page or a chat.
 */
export function verdictSentence(
  report: ReportFacts,
  name: (word: string) => string = plainWord,
): string {
  const summaries = decidingSummaries(report);
  const parts = summaries.flatMap((summary) => changesText(summary, name));
  const asides = [
    ...brokenText(report.newlyBroken, name),
    ...countText(sumOf(summaries, "undecided"), "is undecided", "are undecided"),
    ...countText(
      sumOf(summaries, "unlikeMachines"),
      "was never measured on equal machines",
      "were never measured on equal machines",
    ),
    ...countText(
      report.missing.length,
      "has figures for only one artifact",
      "have figures for only one artifact",
    ),
  ];
  const lead = `${leads[overallDirection(report)]}${parts.length > 0 ? `: ${parts.join("; ")}` : ""}.`;
  const aside = asides.length > 0 ? ` ${capitalised(asides.join("; "))}.` : "";
  return `${lead}${aside}${attentionText(summaries, report)}`;
}

const leads: Record<Direction, string> = {
  none: "No relevant change",
  regression: "Regressions",
  improvement: "Improvements",
  mixed: "Regressions and improvements",
};

function decidingSummaries({ summaries, deciding }: Pick<ReportFacts, "summaries" | "deciding">) {
  return summaries.filter(({ metric }) => deciding.includes(metric));
}

function changesText(summary: MetricSummary, name: (word: string) => string): string[] {
  const tallies = [
    {
      word: "worse",
      of: (["primary", "secondary"] as const).map((which) => summary[which].regressions),
    },
    {
      word: "better",
      of: (["primary", "secondary"] as const).map((which) => summary[which].improvements),
    },
  ];
  const texts = tallies.flatMap(({ word, of }) => {
    const count = of.reduce((sum, tally) => sum + tally.count, 0);
    if (count === 0) return [];
    const least = of.flatMap(({ least }) => least ?? []);
    const most = of.flatMap(({ most }) => most ?? []);
    const [low, high] = [asPercent(Math.min(...least)), asPercent(Math.max(...most))];
    const range = least.length === 0 ? "from nothing" : low === high ? low : `${low} to ${high}`;
    return [`${count} ${count === 1 ? "case" : "cases"} ${word} (${range})`];
  });
  return texts.length === 0 ? [] : [`${name(summary.metric)} ${texts.join(", ")}`];
}

function brokenText(broken: ReportFacts["newlyBroken"], name: (word: string) => string): string[] {
  if (broken.length === 0) return [];
  const named = broken
    .slice(0, 3)
    .map(({ benchmark }) => (benchmark === "" ? "a whole job" : name(benchmark)));
  const rest = broken.length > named.length ? ` and ${broken.length - named.length} more` : "";
  return [`${named.join(", ")}${rest} newly ${broken.length === 1 ? "fails" : "fail"}`];
}

function countText(count: number, one: string, many: string): string[] {
  return count === 0
    ? []
    : [`${count} ${count === 1 ? "case" : "cases"} ${count === 1 ? one : many}`];
}

function attentionText(summaries: readonly MetricSummary[], report: ReportFacts): string {
  const bad = summaries.some(
    ({ direction, deservesAttention }) =>
      deservesAttention && (direction === "regression" || direction === "mixed"),
  );
  if (bad || report.newlyBroken.length > 0) return " Please check it.";
  return summaries.some(({ direction }) => direction !== "none")
    ? " Nothing needs to be done."
    : "";
}

function sumOf(summaries: readonly MetricSummary[], what: "undecided" | "unlikeMachines"): number {
  return summaries.reduce((sum, summary) => sum + summary[what], 0);
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Removes characters that a terminal would interpret as a command, or that would reverse the text direction. */
export function plainWord(word: string): string {
  const clean = word.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]+/gu, " ").trim();
  return clean.length > 200 ? `${clean.slice(0, 199)}…` : clean;
}
