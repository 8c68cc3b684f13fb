import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampNow } from "@bufbuild/protobuf/wkt";
import { messageOf } from "#core/fault.ts";
import {
  type Finished,
  type Lease,
  Outcome,
  ReleaseRequestSchema,
  StartedRequestSchema,
  type Work,
} from "#proto/grange/worker/v1/worker_pb.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { Changes } from "./changes.ts";
import type { Executed } from "./execute-action.ts";
import { finishedWithoutProcess } from "./finished-message.ts";
import type { CapturedLog } from "./logs/captured-log.ts";
import { LogStream } from "./logs/stream-log.ts";
import type { StopReason } from "./run-process.ts";
import { leaseKey } from "./spool.ts";
import { asWorkerSpans } from "./worker-spans.ts";

const recentCount = 8;

/**
 * An execution that ends before this time reports its start with its end: one transaction of the farm instead of two.
 * In ms.
 */
const tooShortToSayMs = 25;

type UnderWayParts = Pick<
  AgentParts,
  "farm" | "executor" | "reporter" | "retryWindow" | "logger" | "tracing"
>;

interface Running {
  readonly lease: Lease;
  readonly stop: AbortController;
}

interface Reporting {
  readonly lease: Lease;
  readonly log: LogStream | undefined;
}

/** The executions that a worker has started: those that run, and those whose results are being sent. */
export class ExecutionsUnderWay {
  readonly #parts: UnderWayParts;
  readonly #running = new Map<string, Running>();
  readonly #reporting = new Map<string, Reporting>();
  readonly #changes: Changes;
  readonly #slotFreed: () => void;
  #recentMs: number[] = [];
  #machineFailures = 0;
  #noRoom: string | undefined;

  constructor(
    parts: UnderWayParts,
    /** Gets the end of each process and of each report. */
    changes: Changes,
    slotFreed: () => void,
  ) {
    this.#parts = parts;
    this.#changes = changes;
    this.#slotFreed = slotFreed;
  }

  get running(): number {
    return this.#running.size;
  }

  get reporting(): number {
    return this.#reporting.size;
  }

  /** The durations of the last executions, newest last. */
  get recentMs(): readonly number[] {
    return this.#recentMs;
  }

  forgetRecent(): void {
    this.#recentMs = [];
  }

  /** The number of consecutive executions that failed because of this machine, not because of the action. */
  get machineFailures(): number {
    return this.#machineFailures;
  }

  /** Why the last execution found no space on the disk; undefined while there is space. */
  get noRoom(): string | undefined {
    return this.#noRoom;
  }

  /** Records that a later test could write to the disk again. */
  thereIsRoom(): void {
    this.#noRoom = undefined;
  }

  leases(): Lease[] {
    return [...this.#running.values(), ...this.#reporting.values()].map(({ lease }) => lease);
  }

  /** Ends the process of a lease, if it still runs. Returns false when the lease is unknown. */
  stop(lease: Lease, reason: StopReason): boolean {
    const key = leaseKey(lease);
    const running = this.#running.get(key);
    running?.stop.abort(reason);
    return running !== undefined || this.#reporting.has(key);
  }

  /** Ends all processes; returns the leases of those that ran. */
  stopAll(reason: StopReason): Lease[] {
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort(reason);
    return running.map(({ lease }) => lease);
  }

  /** Stops sending the logs for which results wait. */
  stopLogs(): void {
    for (const { log } of this.#reporting.values()) log?.stop();
  }

  async run(work: Work, lease: Lease): Promise<void> {
    const { farm, executor, logger, tracing } = this.#parts;
    const key = leaseKey(lease);
    const running: Running = { lease, stop: new AbortController() };
    this.#running.set(key, running);
    const begun = performance.now();
    let log: LogStream | undefined;
    let saying: NodeJS.Timeout | undefined;
    let tellReported = () => {};
    const reported = new Promise<void>((resolve) => (tellReported = resolve));
    let tellSent = () => {};
    const sent = new Promise<void>((resolve) => (tellSent = resolve));
    const watch = {
      stop: running.stop.signal,
      started: (stdout: CapturedLog) => {
        // An action starts twice when a persistent worker process failed. The first log is empty.
        log?.close();
        clearTimeout(saying);
        log = new LogStream(stdout, lease, farm);
        const at = timestampNow();
        saying = setTimeout(() => this.#sayStarted(lease, at), tooShortToSayMs);
      },
      reported,
      sent,
    };
    const executed = await asWorkerSpans(tracing, work, () =>
      executor.execute(work, farm.blobs(work.project), watch),
    );
    clearTimeout(saying);
    this.#remember(executed, performance.now() - begun);
    // The slot is free while the result is being sent; the lease is extended until the result has arrived.
    this.#reporting.set(key, { lease, log });
    this.#running.delete(key);
    this.#slotFreed();
    this.#changes.tell();
    try {
      switch (executed.kind) {
        case "finished":
          await this.report(executed.finished, log, tellSent);
          break;
        case "no-room":
          logger.warn({ lease: key, reason: messageOf(executed.reason) }, "its disk is full");
          // Once a process has started, the execution counts as an attempt, whose end gives the reason.
          if (log !== undefined)
            await this.report(finishedWithoutProcess(work, executed.reason, false), log, tellSent);
          // If the call fails, the lease expires by itself.
          else
            await farm.release(create(ReleaseRequestSchema, { leases: [lease] })).catch(() => {});
          break;
        case "lost":
          break;
      }
    } catch (reason) {
      // The report is too large for a message: without a report the lease expires by itself.
      logger.error({ lease: key, reason: messageOf(reason) }, "a result is lost");
    } finally {
      tellReported();
      log?.close();
      this.#reporting.delete(key);
      this.#changes.tell();
    }
  }

  /** Resolves when the farm has answered to a result, or when the worker ends. */
  async report(finished: Finished, log?: LogStream, sent = () => {}): Promise<void> {
    const { reporter, retryWindow } = this.#parts;
    const saysNothing = log === undefined || log.isEmpty;
    if (!saysNothing) await reporter.keep(finished);
    await log?.end(retryWindow.ms);
    const delivered = saysNothing ? reporter.deliverAndKeep(finished) : reporter.deliver(finished);
    // By then its bytes have been sent, unless other reports are being sent, which it will join.
    setImmediate(sent);
    await delivered;
  }

  #remember(executed: Executed, tookMs: number): void {
    if (executed.kind === "no-room") this.#noRoom = messageOf(executed.reason);
    if (executed.kind !== "lost") {
      const isOurs =
        executed.kind === "no-room" || executed.finished.outcome === Outcome.INFRASTRUCTURE_ERROR;
      this.#machineFailures = isOurs ? this.#machineFailures + 1 : 0;
    }
    this.#recentMs = [...this.#recentMs, tookMs].slice(-recentCount);
  }

  #sayStarted(lease: Lease, at: Timestamp): void {
    const request = create(StartedRequestSchema, { lease, at });
    const { farm, retryWindow } = this.#parts;
    retryWindow
      .persistently(() => farm.started(request))
      .then(
        ({ accepted }) => {
          if (!accepted) this.stop(lease, "lost");
        },
        // A failure only makes the clock of the page less exact; the next heartbeat detects a lost lease, and extends
        // one that the worker still has.
        () => {},
      );
  }
}
