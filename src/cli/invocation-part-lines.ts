import type { BuildTiming } from "#api/build-timing.ts";
import type { InvocationMisses } from "#api/invocation-misses.ts";
import type {
  InvocationTargets,
  TargetHistory,
  TargetState,
  TestAttempts,
} from "#api/invocation-targets.ts";
import type { ChromeTrace } from "#api/trace-events.ts";
import { durationText } from "#core/duration-text.ts";
import { printableLine } from "./terminal/printable-text.ts";
import { tableLines } from "./terminal/table.ts";
import { timeText } from "./terminal/time-text.ts";

const tookText = (ms: number | null) => (ms === null ? "" : durationText(ms));

/** A letter for each state, so that ten builds fit into a column. A dot: the build did not have the target. */
const letters: Readonly<Record<TargetState, string>> = {
  succeeded: "S",
  failed: "F",
  flaky: "K",
  running: "R",
  cancelled: "C",
  skipped: "-",
};

export function targetLines({ count, earlier, targets }: InvocationTargets): string[] {
  if (count === 0) return ["The build has no targets: it has sent none, and no action names one."];
  const history = (states: InvocationTargets["targets"][number]["earlier"]) =>
    states.map((state) => (state === null ? "." : letters[state])).join("");
  return [
    ...tableLines([
      ["state", "target", "took", "executed", "hits", "before"],
      ...targets.map((target) => [
        target.state,
        printableLine(target.aspect === "" ? target.label : `${target.label} (${target.aspect})`),
        tookText(target.durationMs),
        String(target.executed),
        String(target.hits),
        history(target.earlier),
      ]),
    ]),
    ...(count > targets.length ? [`and ${count - targets.length} more`] : []),
    ...(earlier.length === 0
      ? []
      : [
          "",
          `before: the ${earlier.length} builds before this one, the newest first; S succeeded, F failed, K flaky, R running, C cancelled, - skipped, . not built`,
        ]),
  ];
}

export function testLines({ attempts, isCut, label, unreadable }: TestAttempts): string[] {
  if (attempts.length === 0 && unreadable === 0)
    return [
      `${printableLine(label)} has no test action here. A test run by the tool itself, without the farm, has none.`,
    ];
  return [
    ...tableLines([
      ["run", "shard", "attempt", "state", "took", "worker", "execution"],
      ...attempts.map((each) => [
        String(each.run),
        `${each.shard} of ${each.shards}`,
        String(each.attempt),
        each.state === "failed" ? (each.outcome ?? "failed") : each.state,
        tookText(each.durationMs),
        printableLine(each.worker ?? ""),
        each.executionId ?? "",
      ]),
    ]),
    ...(unreadable === 0
      ? []
      : [`${unreadable} more: the commands, which name the shards, are no longer in the store`]),
    ...(isCut ? ["There may be more: the first 500 actions were read."] : []),
  ];
}

export function timingLines(timing: BuildTiming): string[] {
  const { chain, chainLength, isCut, mnemonics, wallMs, workers } = timing;
  return [
    `${durationText(wallMs)} from the first request to the last end`,
    ...(isCut ? ["Only the first 20,000 actions are counted."] : []),
    "",
    ...tableLines([
      ["mnemonic", "executed", "failed", "hits", "ran", "longest", "waited"],
      ...mnemonics.map((row) => [
        printableLine(row.mnemonic === "" ? "(no name)" : row.mnemonic),
        String(row.executed),
        String(row.failed),
        String(row.cached),
        durationText(row.ranMs),
        durationText(row.longestMs),
        durationText(row.waitedMs),
      ]),
    ]),
    "",
    ...tableLines([
      ["worker", "executed", "ran"],
      ...workers.map(({ executed, ranMs, worker }) => [
        printableLine(worker),
        String(executed),
        durationText(ranMs),
      ]),
    ]),
    "",
    `longest chain (estimated): ${chainLength} actions${chain.length < chainLength ? `, the last ${chain.length}` : ""}`,
    ...tableLines([
      ["action", "mnemonic", "tool before it", "waited", "ran", "execution"],
      ...chain.map((step) => [
        printableLine(step.target),
        printableLine(step.mnemonic),
        durationText(step.toolMs),
        durationText(step.waitedMs),
        durationText(step.ranMs),
        step.executionId,
      ]),
    ]),
  ];
}

export function missLines({ executed, hits, misses, next }: InvocationMisses): string[] {
  const all = hits + executed;
  const score = all === 0 ? "no actions" : `${Math.floor((100 * hits) / all)} %`;
  return [
    `cache score: ${score}, ${hits} of ${all} actions were in the cache`,
    ...(misses.length === 0
      ? []
      : [
          "",
          ...tableLines([
            ["action", "mnemonic", "why it was executed", "execution"],
            ...misses.map(({ executionId, mnemonic, paths, sentence, target }) => [
              printableLine(target),
              printableLine(mnemonic),
              printableLine(paths.length === 0 ? sentence : `${sentence} ${paths.join(", ")}`),
              executionId,
            ]),
          ]),
        ]),
    ...(next === null ? [] : ["There are more; the page of the build lists all."]),
  ];
}

/** The trace itself, in one line: a viewer reads it from a file. */
export function tracedLines(trace: ChromeTrace): string[] {
  return [JSON.stringify(trace)];
}

export function historyLines({ builds, label }: TargetHistory): string[] {
  if (builds.length === 0)
    return [
      `No stored build has the target ${printableLine(label)}: neither its build events nor its actions name it.`,
    ];
  return tableLines([
    ["build", "state", "tests", "commit", "branch", "took", "executed", "hits", "began"],
    ...builds.map((build) => [
      printableLine(build.invocation),
      build.state,
      printableLine((build.testStatus ?? "").toLowerCase()),
      printableLine((build.commit ?? "").slice(0, 10)),
      printableLine(build.branch ?? ""),
      tookText(build.durationMs),
      String(build.executed),
      String(build.hits),
      timeText(build.at),
    ]),
  ]);
}
