import type { SizeClassDecision, SizeClassRun } from "#api/size-class.ts";
import { durationText } from "#core/duration-text.ts";
import { memorySizeText } from "#core/memory-size.ts";
import type { SizeStanding } from "#execution/sizing/sized-runs.store.ts";

type Decision = Omit<SizeClassDecision, "sentences">;

/** Describes a decision in plain words: the choice and its reasons, the expectation, and the result. */
export function decisionWords(decision: Decision): string[] {
  return [
    chosenWords(decision),
    expectedWords(decision),
    ...decision.alternatives.flatMap((each) =>
      each.remark === null ? [] : [sentence(`size class ${each.sizeClass}: ${each.remark}`)],
    ),
    ...decision.runs.map((run) => runWords(run, decision)),
  ];
}

function chosenWords({ purpose, reason, sizeClass }: Decision): string {
  const chosen = {
    first: `Size class ${sizeClass} was chosen`,
    retry: `Size class ${sizeClass} was chosen for another try`,
    hedge: `A second run was begun on size class ${sizeClass}`,
    background: `Size class ${sizeClass} was tried in the background, to learn`,
  }[purpose];
  return sentence(reason.text === "" ? chosen : `${chosen}: ${reason.text}`);
}

function expectedWords({ alternatives, expectedMs, sizeClass, timeoutMs }: Decision): string {
  const own = alternatives.find((each) => each.sizeClass === sizeClass);
  // Without knowledge, strategies store the permitted time.
  if (own?.expectedMs === null) {
    return `Its duration there was not known; its timeout was ${durationText(timeoutMs)}.`;
  }
  const band = own?.band
    ? `, between ${durationText(own.band.fastMs)} and ${durationText(own.band.slowMs)} eight times in ten`
    : "";
  return `It was expected to run for ${durationText(expectedMs)}${band}, and allowed ${durationText(timeoutMs)}.`;
}

function runWords(run: SizeClassRun, { sizeClass }: Decision): string {
  const where =
    run.sizeClass === sizeClass
      ? `on size class ${sizeClass}`
      : `on size class ${run.sizeClass} (which was idle)`;
  if (run.outcome === null) {
    return run.startedAt === null ? `It is about to start ${where}.` : `It runs ${where} now.`;
  }
  const used = [
    run.cpuMs === null ? "" : `${durationText(run.cpuMs)} of CPU`,
    run.peakMemoryBytes === null ? "" : `${memorySizeText(run.peakMemoryBytes)} of memory at most`,
  ].filter((part) => part !== "");
  const usage = used.length === 0 ? "" : `, used ${used.join(" and ")},`;
  return run.durationMs === null
    ? `It did not start ${where}: ${endWords(run)}.`
    : `It ran ${where} for ${durationText(run.durationMs)}${usage} and ${endWords(run)}.`;
}

function endWords({ exitCode, outcome, timeoutMs }: SizeClassRun): string {
  switch (outcome ?? "") {
    case "succeeded":
      return "succeeded";
    case "failed":
      return exitCode === null ? "failed" : `failed with exit code ${exitCode}`;
    case "timed_out":
      return timeoutMs === null
        ? "was ended by its timeout"
        : `was ended after its ${durationText(timeoutMs)}`;
    case "out_of_memory":
      return "ran out of memory";
    case "cancelled":
      return "was cancelled";
    case "worker_lost":
      return "lost its worker";
    default:
      return "ended by a fault of its worker or of the farm";
  }
}

/** Returns one sentence: the choice for an execution, or the reason why there was none. */
export function standingWords(
  { hedgeOf, isSized, least, most, sizeClass }: SizeStanding,
  decisions: readonly Pick<SizeClassDecision, "purpose" | "sizeClass" | "reason">[],
): string {
  if (hedgeOf !== null) {
    return `It runs at the same time as execution ${hedgeOf}, on size class ${sizeClass}: the first to end counts. The decisions are those of that execution.`;
  }
  const chosen = decisions.filter(({ purpose }) => purpose !== "hedge");
  const [first] = chosen;
  const last = chosen.at(-1);
  if (first !== undefined && last !== undefined) {
    const hedged = decisions.length > chosen.length ? ", and a second run was begun beside it" : "";
    if (first.purpose === "background") {
      return `It is a run in the background on size class ${sizeClass}, to learn how such actions do there.`;
    }
    if (last === first) return `Size class ${first.sizeClass} was chosen${hedged}.`;
    return last.sizeClass === first.sizeClass
      ? `Size class ${first.sizeClass} was chosen, and again for another try${hedged}.`
      : `Size class ${first.sizeClass} was chosen first, and size class ${last.sizeClass} in the end${hedged}.`;
  }
  if (least === most) return `It asks for size class ${least} and no other: nothing was chosen.`;
  if (isSized) return "A size class was selected for it, but the decision has been deleted.";
  return `Nothing was chosen: only one size class could run it when it came, and it asks for ${least}${most === null ? " or greater" : ` to ${most}`}.`;
}

/** Returns one sentence with its full stop. */
function sentence(text: string): string {
  const trimmed = text.trim();
  const begun = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
