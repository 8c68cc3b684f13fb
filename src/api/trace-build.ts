import type { InvocationAction } from "./invocation.ts";
import { executedOf } from "./time-build.ts";
import {
  type ChromeTrace,
  duration,
  processName,
  type TraceEvent,
  threadName,
} from "./trace-events.ts";

/** The processes of the trace: the workers, and the queue. */
const workersPid = 1;
const queuePid = 2;

/**
 * Returns the actions of a build as a trace. Each worker has a row for each action that it runs at the same time as
 * another; waiting actions and hits of the cache are in the queue's rows.
 */
export function traceOfBuild(title: string, actions: readonly InvocationAction[]): ChromeTrace {
  const executed = executedOf(actions).toSorted((a, b) => a.started - b.started);
  const lanes = new Lanes();
  const running = executed.map(({ action, executionId, started, finished }): TraceEvent => {
    const worker = action.worker ?? "unknown worker";
    return {
      ...named(action),
      // Viewers do not show an event without a duration.
      ...duration(started, Math.max(finished, started + 0.001)),
      pid: workersPid,
      tid: lanes.take(workersPid, worker, started, finished),
      args: { mnemonic: action.mnemonic, execution: executionId, outcome: action.outcome ?? "" },
    };
  });
  const waiting = executed
    .filter(({ requested, started }) => started > requested)
    .toSorted((a, b) => a.requested - b.requested)
    .map(
      ({ action, requested, started }): TraceEvent => ({
        ...named(action),
        ...duration(requested, started),
        pid: queuePid,
        tid: lanes.take(queuePid, "waiting", requested, started),
      }),
    );
  const hits = actions
    .filter(({ state }) => state === "hit")
    .map((action): TraceEvent => {
      const at = Date.parse(action.requestedAt);
      return {
        ...named(action),
        ph: "i",
        s: "t",
        ts: at * 1_000,
        pid: queuePid,
        tid: lanes.take(queuePid, "from the cache", 0, 0),
      };
    });
  return {
    displayTimeUnit: "ms",
    traceEvents: [
      processName(workersPid, `workers of ${title}`),
      processName(queuePid, "queue"),
      ...lanes.names(),
      ...running,
      ...waiting,
      ...hits,
    ],
  };
}

function named({ actionDigest, mnemonic, target }: InvocationAction) {
  return {
    name: target === "" ? actionDigest.slice(0, 16) : target,
    cat: mnemonic === "" ? "action" : mnemonic,
  };
}

/** Rows in which no two events overlap. */
class Lanes {
  readonly #lanes: { pid: number; tid: number; name: string; freeAt: number }[] = [];
  readonly #of = new Map<string, { tid: number; name: string; freeAt: number }[]>();

  /** Returns the number of a row of this group that is free from a time on. Call it in the order of `from`. */
  take(pid: number, group: string, from: number, until: number): number {
    // Workers choose their names: one may be called like a row of the queue.
    const key = `${pid} ${group}`;
    const lanes = this.#of.get(key) ?? [];
    this.#of.set(key, lanes);
    const free = lanes.find(({ freeAt }) => freeAt <= from);
    if (free !== undefined) {
      free.freeAt = until;
      return free.tid;
    }
    const name = lanes.length === 0 ? group : `${group} (${lanes.length + 1})`;
    const lane = { pid, tid: this.#lanes.length + 1, name, freeAt: until };
    this.#lanes.push(lane);
    lanes.push(lane);
    return lane.tid;
  }

  names(): TraceEvent[] {
    return this.#lanes.map(({ name, ...row }) => threadName(row, name));
  }
}
