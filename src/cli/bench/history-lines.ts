import type { Report } from "#api/benchmark-comparison.ts";
import type { Series, Steps } from "#api/benchmark-history.ts";
import { statedChange } from "#comparison/summarise.ts";
import type { Paint } from "../terminal/paint.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { confirmedText } from "./compare-lines.ts";
import { caseText, changeText, figureText } from "./figure-text.ts";

/** Returns the last points of a series, each with its change since the previous one on the same kind of machine. */
export function seriesLines(series: Series, last: number, paint: Paint): string[] {
  const { points, metric, changePoints } = series;
  const title = `${caseText(series.case)}: ${metric.name}`;
  if (points.length === 0) return [title, "It has not been measured yet."];
  const kinds = [...new Set(points.map(({ fingerprint }) => fingerprint))];
  const latest = new Map<string, number>();
  const rows = points.map(({ artifact, datedAt, value, collector, fingerprint }) => {
    const before = latest.get(fingerprint);
    latest.set(fingerprint, value);
    const step = changePoints.find(
      (each) => each.artifact === artifact && each.fingerprint === fingerprint,
    );
    const change = before === undefined ? "" : changeText(before === 0 ? null : value / before - 1);
    return [
      printableLine(artifact),
      datedAt.slice(0, 10),
      figureText(value, metric.unit),
      change,
      ...(kinds.length > 1 ? [fingerprint.slice(0, 8)] : []),
      printableLine(collector),
      step === undefined
        ? ""
        : paint.yellow(`step ${changeText(step.change)}${wordOf(step.standing, step.note)}`),
    ];
  });
  const left = rows.length - Math.min(rows.length, last);
  return [
    paint.bold(title) + paint.dim(`  suite ${series.suite}`),
    ...tableLines(rows.slice(-last)),
    ...(left === 0 ? [] : [paint.dim(`${left} earlier: --limit`)]),
  ];
}

function wordOf(standing: Steps["steps"][number]["standing"], note: string | null): string {
  if (standing === "found") return "";
  return `, ${standing}${note === null ? "" : `: ${printableLine(note)}`}`;
}

/** Returns steps by the artifact that caused them. */
export function stepLines({ steps, since }: Steps, all: boolean, paint: Paint): string[] {
  const shown = steps.filter(({ direction }) => all || direction === "regressed");
  if (shown.length === 0) {
    return [
      `No ${all ? "steps" : "regressions"} of artifacts since ${since.slice(0, 10)}; --since 365d looks further back.`,
    ];
  }
  const artifacts = [...new Set(shown.map(({ artifact }) => artifact))];
  return artifacts.flatMap((artifact) => {
    const its = shown.filter((each) => each.artifact === artifact);
    const [first] = its;
    return [
      paint.bold(printableLine(artifact)) +
        paint.dim(`  after ${printableLine(first?.before ?? "")}`),
      ...tableLines(
        its.map(({ direction, change, metric, case: testCase, standing, note }) => [
          `  ${paint[direction === "regressed" ? "red" : "green"](changeText(change))}`,
          metric,
          printableLine(caseText(testCase)),
          wordOf(standing, note).replace(/^, /, ""),
        ]),
      ),
    ];
  });
}

/** Returns the verdict, then the changes, as they were when the report was made. */
export function reportLines(report: Report, paint: Paint): string[] {
  const { before, after, suite, verdict, changes, missing, newlyBroken, reproduce } = report;
  return [
    paint.bold(`${before} → ${after}`) + paint.dim(`  suite ${suite}`),
    printableLine(verdict),
    ...(changes.length === 0 ? [] : [""]),
    ...tableLines(
      changes
        .slice(0, 50)
        .map((each) => [
          paint[each.verdict === "regressed" ? "red" : "green"](changeText(statedChange(each))),
          each.verdict + (each.evidence.by === "pairs" ? confirmedText(each.evidence) : ""),
          each.metric,
          printableLine(caseText(each.case)),
        ]),
    ),
    ...(changes.length > 50 ? [`and ${changes.length - 50} more: --json`] : []),
    ...newlyBroken.map(
      ({ benchmark, message }) =>
        `${paint.red("broken")} ${printableLine(benchmark)}: ${printableLine(message.split("\n", 1)[0] ?? "")}`,
    ),
    ...(missing.length === 0
      ? []
      : [`${missing.length} cases have figures for only one of the two artifacts`]),
    "",
    paint.dim(`to reproduce: ${printableLine(reproduce)}`),
  ];
}
