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
import { LogStream } from "./logs/stream-log.ts";
import type { StopReason } from "./run-process.ts";
import { leaseKey } from "./spool.ts";

const recentCount = 8;

/**
 * An execution that ends before this time reports its start with its end: one transaction of the farm instead of two.
 * In ms.
 */
const tooShortToSayMs = 25;

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
  readonly #parts: Pick<AgentParts, "farm" | "executor" | "reporter" | "retryWindow" | "logger">;
  readonly #running = new Map<string, Running>();
  readonly #reporting = new Map<string, Reporting>();
  readonly #changes: Changes;
  readonly #slotFreed: () => void;
  #recentMs: number[] = [];
  #machineFailures = 0;
  #noRoom: string | undefined;

  constructor(
    parts: Pick<AgentParts, "farm" | "executor" | "reporter" | "retryWindow" | "logger">,
    /** Hears the end of each process and of each report. */
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

  /** How long the last ones took, newest last. */
  get recentMs(): readonly number[] {
    return this.#recentMs;
  }

  forgetRecent(): void {
    this.#recentMs = [];
  }

  /** Executions in a row that this machine, not the action, made fail. */
  get machineFailures(): number {
    return this.#machineFailures;
  }

  /** Why the last execution found no room on the disk; undefined while there is some. */
  get noRoom(): string | undefined {
    return this.#noRoom;
  }

  /** The disk was tried since, and takes files again. */
  thereIsRoom(): void {
    this.#noRoom = undefined;
  }

  leases(): Lease[] {
    return [...this.#running.values(), ...this.#reporting.values()].map(({ lease }) => lease);
  }

  /** Ends the process of a lease, if it still runs. False when nothing is known of the lease. */
  stop(lease: Lease, reason: StopReason): boolean {
    const key = leaseKey(lease);
    const running = this.#running.get(key);
    running?.stop.abort(reason);
    return running !== undefined || this.#reporting.has(key);
  }

  /** Ends all processes; answers the leases of those that ran. */
  stopAll(reason: StopReason): Lease[] {
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort(reason);
    return running.map(({ lease }) => lease);
  }

  /** Stops sending logs for which results wait. */
  stopLogs(): void {
    for (const { log } of this.#reporting.values()) log?.stop();
  }

  async run(work: Work, lease: Lease): Promise<void> {
    const { farm, executor, logger } = this.#parts;
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
    const executed = await executor.execute(work, farm.blobs(work.project), {
      stop: running.stop.signal,
      started: (stdout) => {
        log = new LogStream(stdout, lease, farm);
        const at = timestampNow();
        saying = setTimeout(() => this.#sayStarted(lease, at), tooShortToSayMs);
      },
      reported,
      sent,
    });
    clearTimeout(saying);
    this.#remember(executed, performance.now() - begun);
    // The slot is free while the result is on its way; the lease is kept alive until it is there.
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
          // If it fails, the lease runs out by itself.
          else
            await farm.release(create(ReleaseRequestSchema, { leases: [lease] })).catch(() => {});
          break;
        case "lost":
          break;
      }
    } catch (reason) {
      // No message can hold it: without a report the lease runs out by itself.
      logger.error({ lease: key, reason: messageOf(reason) }, "a result is lost");
    } finally {
      tellReported();
      log?.close();
      this.#reporting.delete(key);
      this.#changes.tell();
    }
  }

  /** Resolves when the farm has answered for a result, or the worker ends. */
  async report(finished: Finished, log?: LogStream, sent = () => {}): Promise<void> {
    const { reporter, retryWindow } = this.#parts;
    const saysNothing = log === undefined || log.isEmpty;
    if (!saysNothing) await reporter.keep(finished);
    await log?.end(retryWindow.ms);
    const delivered = saysNothing ? reporter.deliverAndKeep(finished) : reporter.deliver(finished);
    // By then its bytes are out, unless others are on their way, which it will join.
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
        // Only the page's clock is the poorer for it; the next heartbeat shows a lost lease, and
        // makes a long one of one that is held.
        () => {},
      );
  }
}
