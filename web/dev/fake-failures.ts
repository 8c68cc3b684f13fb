import {
  type ActionComparison,
  type ComparedAction,
  ActionComparison as Comparison,
} from "#api/action-comparison.ts";
import type { ExecutionDetail } from "#api/execution.ts";
import { type ExecutionFailure, ExecutionFailure as Failure } from "#api/execution-failure.ts";
import type { GraphFailures } from "#api/failure-of-job.ts";
import type { Graph } from "#api/graph.ts";
import { failureExcerpt } from "#core/failure-excerpt.ts";
import { sourceFileOf } from "#core/source-file-of.ts";
import type { FakeFarm } from "./fake-farm.ts";

/** What failed in a made-up graph, or in one job of it: each failed job with the same log. */
export function fakeFailures(
  { id, commit, subject, createdAt, jobList }: Graph,
  job: string | null,
): GraphFailures {
  const here = { id, commit, subject, at: createdAt };
  const failed = jobList.filter(
    ({ name, state }) => state === "failed" && (job === null || job === name),
  );
  return {
    graph: id,
    failures: failed.slice(0, 20).map(({ name, runs }) => ({
      job: name,
      because: null,
      run: runs,
      outcome: "failed",
      exitCode: 1,
      message: null,
      executionId: null,
      lastPassed: null,
      firstFailed: here,
      graphsBetween: 0,
      flaky: false,
      log: {
        lines: [
          { text: `npm run ${name}`, isError: false },
          { text: "src/wake.ts(3,7): error TS2322: it did not work", isError: true },
        ],
        continues: false,
      },
    })),
    more: Math.max(0, failed.length - 20),
    skipped: jobList.filter(({ state }) => state === "unreachable").length,
  };
}

function comparedOf(execution: ExecutionDetail): ComparedAction {
  const [asker] = execution.requestedBy;
  return {
    actionDigest: execution.actionDigest,
    executionId: execution.id,
    outcome: execution.outcome,
    worker: execution.worker,
    at: execution.queuedAt,
    job: execution.job,
    request: asker === undefined ? null : asker,
  };
}

/** An earlier success of a made-up execution. */
function before(here: ComparedAction): ComparedAction {
  const at = new Date(Date.parse(here.at) - 3_600_000).toISOString();
  const executionId = "00000000-0000-4000-8000-00000000beef";
  return { ...here, at, executionId, outcome: "succeeded", worker: "barn-1" };
}

/** Why a made-up execution failed: it passed an hour before; its log is the one that the farm has. */
export function fakeExecutionFailure(farm: FakeFarm, execution: ExecutionDetail): ExecutionFailure {
  const { exitCode, id, message, outcome } = execution;
  if (outcome === null || outcome === "succeeded" || outcome === "cancelled") {
    return { failure: null };
  }
  const here = comparedOf(execution);
  const stderr = farm.log("executions", `${id} stderr`, 1).bytes.toString();
  const printed = stderr === "" ? farm.log("executions", id, 1).bytes.toString() : stderr;
  return Failure.parse({
    failure: {
      outcome,
      exitCode,
      message,
      source: sourceFileOf(execution.command?.arguments ?? []) ?? null,
      here,
      lastPassed: before(here),
      firstFailed: here,
      flaky: false,
      log: failureExcerpt(printed, 20),
    },
  });
}

/** What differs between a made-up execution and its earlier success. */
export function fakeComparison(execution: ExecutionDetail): ActionComparison {
  const after = comparedOf(execution);
  return Comparison.parse({
    after,
    before: before(after),
    differences: {
      isSameAction: false,
      command: [
        { part: "argument", name: "3", before: "-O1", after: "-O2" },
        { part: "environment", name: "LANG", before: null, after: "C.UTF-8" },
      ],
      inputs: [
        { path: "lib/store/store.cc", change: "changed" },
        { path: "lib/store/new.h", change: "added" },
      ],
      isCut: false,
      unreadable: null,
    },
  });
}
