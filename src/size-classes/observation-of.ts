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
  const reported = reportedIn(execution.result);
  // Its duration has no start of the tool: the same action with a process of its own takes longer.
  if (reported.hadPersistentProcess) return undefined;
  const last = execution.attempts.at(-1);
  const ran = execution.attempts.flatMap((attempt, i) => {
    const end = endOf(attempt, execution.attempts[i + 1]);
    const processMs = attempt === last ? reported.processMs : undefined;
    return end === undefined ? [] : [{ attempt, run: asRun(attempt, end, processMs) }];
  });
  if (last === undefined || ran.length === 0) return undefined;
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

function asRun(attempt: Attempt, end: EndedRun["end"], processMs: number | undefined): EndedRun {
  // A worker may report any value; no process outlives its timeout.
  const durationMs =
    processMs === undefined
      ? Math.max(0, attempt.durationMs)
      : Math.min(processMs, attempt.timeoutMs);
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

interface Reported {
  /** The duration of the process, without fetching inputs and uploading outputs. */
  readonly processMs: number | undefined;
  readonly hadPersistentProcess: boolean;
}

const nothingReported: Reported = { processMs: undefined, hadPersistentProcess: false };

/** Returns what the worker of the last attempt measured. */
function reportedIn(result: Uint8Array | null): Reported {
  if (result === null) return nothingReported;
  try {
    const parsed = fromBinary(ActionResultSchema, result);
    const spent = parsed.executionMetadata?.virtualExecutionDuration;
    return {
      processMs: spent === undefined ? undefined : Math.max(0, durationMs(spent)),
      hadPersistentProcess: persistentRequestOf(parsed) > 0,
    };
  } catch {
    return nothingReported;
  }
}
