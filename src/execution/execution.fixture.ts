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

/** Common parts of the tests of this module. Only tests and benchmarks import this file. */
export const silent = pino({ level: "silent" });

export function executionId(): ExecutionId {
  return ExecutionId.parse(randomUUID());
}

export function actionDigest(text: string): Digest {
  const hash = createHash("sha256").update(text).digest("hex");
  return Digest.parse({ hash, sizeBytes: text.length });
}

/** Returns a typical request; each has its own action by default. */
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
    images: [],
    ...changes,
  };
}

/** Returns a clock that stands still until the test advances it. */
export function movableClock(startMs = Date.UTC(2030, 0, 1)): Clock & { pass(ms: number): void } {
  let nowMs = startMs;
  return {
    now: () => new Date(nowMs),
    pass(ms) {
      nowMs += ms;
    },
  };
}

/** Hooks for executions that no graph waits for: their end is committed with its last statement, and may be assumed. */
export const servingNobody: QueueHooks = {
  servedBy: async () => [],
  assumeUnserved: async () => {},
};

/** Returns a queue without background work: no rescue and no poll disturbs a test. */
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

/** A signal that is never aborted. */
export const never = new AbortController().signal;
// It is shared by all claims of a test file; Node would report a leak.
setMaxListeners(0, never);
