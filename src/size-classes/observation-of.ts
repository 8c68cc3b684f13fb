import { fromBinary } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { persistentRequestOf } from "#execution/persistent-request-of.ts";
import { backgroundOwner } from "#execution/sizing/background-owner.ts";
import type { ObservedExecution } from "#execution/sizing/observed-executions.store.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Observation } from "./add-runs.ts";
import { evidenceOf } from "./evidence.ts";
import type { RunEnd } from "./past-run.ts";
import type { EndedRun } from "./strategy.ts";

type Attempt = ObservedExecution["attempts"][number];

/**
 * Returns the observation of a finished execution; undefined when there is none.
 *
 * @param greatest The greatest class that might have been chosen for it; undefined when unknown.
 */
export function observationOf(
  execution: ObservedExecution,
  greatest: number | undefined,
): Observation | undefined {
  const ran = execution.attempts.flatMap((attempt, i) => {
    const end = endOf(attempt, execution.attempts[i + 1]);
    return end === undefined ? [] : [{ attempt, run: asRun(attempt, end, execution) }];
  });
  const last = execution.attempts.at(-1);
  if (last === undefined || ran.length === 0) return undefined;
  if (hadPersistentProcess(execution.result)) return undefined;
  const most = Math.max(...ran.map(({ run }) => run.sizeClass), greatest ?? 0);
  const bound = Math.min(most, execution.most ?? Infinity);
  const isBackground = execution.owner === backgroundOwner;
  const evidence = evidenceOf(
    ran.map(({ run }) => run),
    bound,
  );
  // A background run follows a success on the largest class: its result counts at once.
  const remembered = isBackground ? ran.map((_, i) => i) : evidence.remembered;
  return {
    runs: remembered.flatMap((index) => {
      const found = ran[index];
      if (found === undefined || found.run.end === "lost") return [];
      const { sizeClass, durationMs, timeoutMs, cpuMs, peakMemoryBytes, end } = found.run;
      const measured = {
        ...(cpuMs === undefined ? {} : { cpuMs }),
        ...(peakMemoryBytes === undefined ? {} : { peakMemoryBytes }),
      };
      const at = found.attempt.endedAt.getTime();
      return [{ sizeClass, run: { end, durationMs, timeoutMs, at, ...measured } }];
    }),
    verdict: isBackground ? "open" : evidence.verdict,
    endedAt: last.endedAt.getTime(),
    pageRank:
      execution.pageRank === null
        ? undefined
        : new Map(Object.entries(execution.pageRank).map(([k, v]) => [Number(k), v])),
  };
}

function endOf(
  { outcome, sizeClass }: Attempt,
  next: Attempt | undefined,
): RunEnd | "lost" | undefined {
  switch (outcome) {
    case "succeeded":
    case "failed":
    case "timed_out":
    case "out_of_memory":
      return outcome;
    case "worker_lost":
      return "lost";
    case "cancelled":
      // A second run ended first: this one would have taken longer than it did.
      return next?.outcome === "succeeded" && next.sizeClass > sizeClass ? "timed_out" : undefined;
    case "infrastructure_error":
      return undefined;
  }
}

function asRun(
  attempt: Attempt,
  end: EndedRun["end"],
  { attempts, result }: ObservedExecution,
): EndedRun {
  const isLast = attempt === attempts.at(-1);
  const measured = isLast ? processTimeIn(result) : undefined;
  // A worker may report any value; no process outlives its timeout.
  const durationMs =
    measured === undefined
      ? Math.max(0, attempt.durationMs)
      : Math.min(measured, attempt.timeoutMs);
  return {
    sizeClass: attempt.sizeClass,
    end,
    durationMs,
    timeoutMs: attempt.outcome === "cancelled" ? Math.max(1, durationMs) : attempt.timeoutMs,
    cpuMs: attempt.cpuMs ?? undefined,
    peakMemoryBytes: attempt.peakMemoryBytes ?? undefined,
    exitCode: attempt.exitCode ?? undefined,
  };
}

/** Its duration has no start of the tool: the same action with a process of its own takes longer. */
function hadPersistentProcess(result: Uint8Array | null): boolean {
  if (result === null) return false;
  try {
    return persistentRequestOf(fromBinary(ActionResultSchema, result)) > 0;
  } catch {
    return false;
  }
}

/** Returns the duration of the process, without fetching inputs and uploading outputs; measured by its worker. */
function processTimeIn(result: Uint8Array | null): number | undefined {
  if (result === null) return undefined;
  try {
    const { executionMetadata } = fromBinary(ActionResultSchema, result);
    const spent = executionMetadata?.virtualExecutionDuration;
    return spent === undefined ? undefined : Math.max(0, durationMs(spent));
  } catch {
    return undefined;
  }
}
