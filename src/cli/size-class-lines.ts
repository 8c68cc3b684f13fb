import type {
  ExecutionSizeClass,
  SizeClassAlternative,
  SizeClassDecision,
  SizeClasses,
  SizeClassKeyDetail,
  SizeClassNow,
  SizeClassSaved,
} from "#api/size-class.ts";
import { durationText } from "#core/duration-text.ts";
import { memorySizeText } from "#core/memory-size.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { tableLines } from "./terminal/table.ts";
import { timeText } from "./terminal/time-text.ts";

/** Returns why an execution ran on its size class: the known facts, the alternatives, and the outcome. */
export function explainLines(explained: ExecutionSizeClass): string[] {
  const { decisions, sentence } = explained;
  return [printableLine(sentence), ...decisions.flatMap((each) => ["", ...decisionLines(each)])];
}

function decisionLines(decision: SizeClassDecision): string[] {
  const { key, level, sentences, strategy, title } = decision;
  const name = title === "" ? "" : `${printableLine(title)}, `;
  return [
    `${decision.number}. ${timeText(decision.decidedAt)}, strategy ${printableLine(strategy)}, by ${name}key ${printableLine(key)} (${level})`,
    ...sentences.map((each) => `   ${printableLine(each)}`),
    ...alternativeLines(decision).map((line) => `   ${line}`),
  ];
}

function alternativeLines({ alternatives, sizeClass }: SizeClassDecision): string[] {
  if (alternatives.length === 0) return [];
  const isDrawn = alternatives.some(({ probability }) => probability !== null);
  return tableLines([
    [
      "class",
      "would run",
      "between",
      "would wait",
      "cost with delay",
      "risk",
      isDrawn ? "drawn with" : "",
      "",
    ],
    ...alternatives.map((each) => [
      String(each.sizeClass),
      each.expectedMs === null ? "-" : durationText(each.expectedMs),
      bandText(each.band),
      waitText(each.waitMs),
      each.cost === null ? "-" : costText(each.cost),
      each.risk === null ? "-" : shareText(each.risk),
      each.probability === null ? "" : shareText(each.probability),
      each.sizeClass === sizeClass ? "← chosen" : "",
    ]),
  ]);
}

export function classesLines({ lately, platforms, saved }: SizeClasses): string[] {
  if (platforms.length === 0) {
    return ["There is no size class: no worker is connected, and none is declared."];
  }
  const of = `${lately.isCut ? "the latest " : ""}${counted(lately.executions)} since ${timeText(lately.since)}`;
  return [
    ...platforms.flatMap(({ name, classes }) => [
      printableLine(name),
      ...tableLines([
        [
          "  class",
          "cpus",
          "memory",
          "price",
          "workers",
          "busy",
          "queued",
          "would wait",
          "share",
          "ran",
          "cost",
          "saved",
        ],
        ...classes.map(classLine),
      ]),
      "",
    ]),
    `Counted: ${of}. ${savedLine(saved)}`,
  ];
}

function classLine(of: SizeClassNow): string[] {
  return [
    `  ${of.sizeClass}`,
    of.cpus === null ? "-" : String(of.cpus),
    of.memoryBytes === null ? "-" : memorySizeText(of.memoryBytes),
    costText(of.price),
    String(of.workers),
    `${of.busy} of ${of.slots}`,
    String(of.queued),
    waitText(of.expectedWaitMs),
    of.share === null ? "-" : shareText(of.share),
    of.busySeconds === 0 ? "-" : durationText(of.busySeconds * 1_000),
    of.cost === 0 ? "-" : costText(of.cost),
    of.saved.executions === 0 ? "-" : costText(of.saved.amount),
  ];
}

function savedLine({ amount, executions, unknown }: SizeClassSaved): string {
  if (executions === 0) return "There was no choice between several classes.";
  const left =
    unknown === 0
      ? ""
      : `; ${unknown} ${unknown === 1 ? "is" : "are"} not counted: it is not known how long ${unknown === 1 ? "it takes" : "they take"} there`;
  return `Compared with always using the largest class, they ${amount < 0 ? "lost" : "saved"} about ${costText(Math.abs(amount))} (estimated, ${counted(executions)}${left}).`;
}

function counted(executions: number): string {
  return `${executions.toLocaleString("en")} execution${executions === 1 ? "" : "s"}`;
}

export function keyLines(key: SizeClassKeyDetail): string[] {
  const { classes, decisions, failuresInARow, lastFailureAt } = key;
  const title = printableLine(key.title) || printableLine(key.key);
  const [latest] = decisions;
  return [
    `${title}: key ${printableLine(key.key)} (${key.level}), project ${printableLine(key.project)}, trust domain ${printableLine(key.domain)}, seen ${timeText(key.lastSeenAt)}`,
    ...(lastFailureAt === null
      ? []
      : [
          `Failed on the largest class ${timeText(lastFailureAt)}${failuresInARow > 1 ? `, ${failuresInARow} times in a row` : failuresInARow === 0 ? ", not since" : ""}. Such failures do not depend on the class; the runs below do not include them.`,
        ]),
    "",
    ...tableLines([
      [
        "class",
        "runs",
        "succeeded",
        "failed",
        "timed out",
        "out of memory",
        "median",
        "expected",
        "between",
      ],
      ...classes.map(({ sizeClass, runs, estimate }) => {
        const count = (end: string) => String(runs.filter((run) => run.end === end).length);
        const times = runs
          .filter(({ end }) => end === "succeeded")
          .map(({ durationMs }) => durationMs)
          .toSorted((a, b) => a - b);
        const median = times[Math.floor(times.length / 2)];
        return [
          String(sizeClass),
          String(runs.length),
          ...["succeeded", "failed", "timed_out", "out_of_memory"].map(count),
          median === undefined ? "-" : durationText(median),
          estimate === null || estimate.expectedMs === null
            ? "-"
            : durationText(estimate.expectedMs),
          bandText(estimate?.band ?? null),
        ];
      }),
    ]),
    ...(latest === undefined ? [] : ["", "The latest decision:", ...decisionLines(latest)]),
  ];
}

export function costText(cost: number): string {
  const size = Math.abs(cost);
  if (size === 0) return "0";
  if (size >= 99.95) return Math.round(cost).toLocaleString("en");
  return size >= 0.01 ? cost.toFixed(size >= 9.995 ? 1 : 2) : cost.toExponential(0);
}

function bandText(band: SizeClassAlternative["band"]): string {
  return band === null ? "-" : `${durationText(band.fastMs)} – ${durationText(band.slowMs)}`;
}

function waitText(ms: number | null): string {
  if (ms === null) return "-";
  return ms === 0 ? "not" : durationText(ms);
}

function shareText(share: number): string {
  if (share === 0 || share === 1) return `${share * 100} %`;
  if (share < 0.01) return "< 1 %";
  return share > 0.99 ? "> 99 %" : `${Math.round(share * 100)} %`;
}
