import { createHash, randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import pino from "pino";
import type { Clock } from "#core/clock.ts";
import { Digest } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { ExecutionId, type ExecutionRequest } from "./execution.ts";
import type { WorkerDescription } from "./leasing/worker.store.ts";
import { openExecutionQueue } from "./open-execution-queue.ts";
import type { QueueHooks } from "./queue-hooks.ts";
import type { QueueTimes } from "./queue-times.ts";
import type { Analyzer } from "./sizing/size-class-roles.ts";

/** What the tests of this room start from. Imported by tests and benchmarks only. */
export const silent = pino({ level: "silent" });

export function executionId(): ExecutionId {
  return ExecutionId.parse(randomUUID());
}

export function actionDigest(text: string): Digest {
  const hash = createHash("sha256").update(text).digest("hex");
  return Digest.parse({ hash, sizeBytes: text.length });
}

/** A request like any other; each has an action of its own unless told otherwise. */
export function aRequest(changes: Partial<ExecutionRequest> = {}): ExecutionRequest {
  const id = changes.id ?? executionId();
  return {
    id,
    project: "p",
    domain: protectedDomain,
    actionDigest: actionDigest(id),
    platform: { OSFamily: "linux" },
    sizeClass: 1,
    priority: 0,
    invocation: "i",
    timeoutMs: 60_000,
    doNotCache: false,
    ...changes,
  };
}

export function aWorker(name: string, changes: Partial<WorkerDescription> = {}): WorkerDescription {
  return {
    name,
    instanceId: randomUUID(),
    platform: { OSFamily: "linux", ISA: "x86-64" },
    sizeClass: 1,
    slots: 1,
    cpus: null,
    memoryBytes: null,
    version: "0",
    facilities: {},
    transport: "pull",
    host: "",
    leaseMs: null,
    ...changes,
  };
}

/** A clock that stands still until it is moved. */
export function movableClock(startMs = Date.UTC(2030, 0, 1)): Clock & { pass(ms: number): void } {
  let nowMs = startMs;
  return {
    now: () => new Date(nowMs),
    pass(ms) {
      nowMs += ms;
    },
  };
}

/** As for all that no graph waits for: an end then commits with its last statement, and may be assumed to be one. */
export const servingNobody: QueueHooks = {
  servedBy: async () => [],
  assumeUnserved: async () => {},
};

/** A queue that does nothing by itself: no rescue and no poll comes in a test's way. */
export function aQueue(
  db: Db,
  parts: {
    clock?: Clock;
    hooks?: QueueHooks;
    analyzer?: Analyzer;
    times?: Partial<QueueTimes>;
  } = {},
) {
  return openExecutionQueue({
    db,
    clock: parts.clock ?? movableClock(),
    logger: silent,
    ...(parts.hooks === undefined ? {} : { hooks: parts.hooks }),
    ...(parts.analyzer === undefined ? {} : { analyzer: parts.analyzer }),
    times: {
      graceMs: 0,
      rescueEveryMs: 3_600_000,
      sweepEveryMs: 3_600_000,
      pollMs: 3_600_000,
      ...parts.times,
    },
  });
}

/** The signal of somebody who never gives up. */
export const never = new AbortController().signal;
// It is shared by all claims of a test file; Node takes that for a leak.
setMaxListeners(0, never);
