import { create } from "@bufbuild/protobuf";
import { backoffMs } from "#core/backoff.ts";
import { rest } from "#core/resting.ts";
import { AppendLogRequestSchema, type Lease } from "#proto/grange/worker/v1/worker_pb.ts";
import type { FarmConnection } from "../farm-connection.ts";
import type { CapturedLog } from "./captured-log.ts";

/** Limits a process with frequent output to 20 calls a second instead of 20,000. */
const gatherMs = 50;
const enoughToSend = 64 * 1024;
const mostInOneCall = 512 * 1024;

const lastRetryMs = 250;

/**
 * Sends a log to the farm while it grows. The stream closes the log.
 *
 * It reads from disk at the offset that the farm requests. So a lost connection costs only time, and a restarted farm
 * gets the missing part.
 */
export class LogStream {
  readonly #log: CapturedLog;
  readonly #stopped = new AbortController();
  readonly #sending: Promise<void>;
  #wake: () => void = () => {};
  #ended = false;
  /** Ends a pause between two attempts. */
  #hurry = new AbortController();

  constructor(log: CapturedLog, lease: Lease, farm: FarmConnection) {
    this.#log = log;
    log.onGrown(() => this.#wake());
    this.#sending = this.#send(lease, farm);
  }

  /** Whether there is nothing to send so far. */
  get isEmpty(): boolean {
    return this.#log.sizeBytes === 0;
  }

  /**
   * Called after the log's end: resolves when all is sent, or after the time limit.
   *
   * The result waits for the last lines, because the farm accepts no log after it. Readers who need more than was sent
   * in time read the log's blob.
   */
  async end(waitLimitMs: number): Promise<void> {
    this.#ended = true;
    this.#wake();
    this.#hurry.abort("ended");
    this.#hurry = new AbortController();
    const inTime = new AbortController();
    const retryWindow = rest(waitLimitMs, inTime.signal).then(() => this.stop());
    await this.#sending.finally(() => inTime.abort("ended"));
    await retryWindow;
  }

  /** Stops sending; the log is closed when the current call has ended. */
  close(): void {
    this.stop();
    const close = () => this.#log.close();
    // A close that fails loses nothing: all bytes were written.
    this.#sending.then(close, close).catch(() => {});
  }

  stop(): void {
    this.#stopped.abort("stopped");
    this.#hurry.abort("stopped");
    this.#wake();
  }

  async #send(lease: Lease, farm: FarmConnection): Promise<void> {
    const { signal } = this.#stopped;
    let sent = 0;
    let failures = 0;
    let refusals = 0;
    while (!signal.aborted) {
      if (sent >= this.#log.sizeBytes) {
        if (this.#ended) return;
        await this.#growth();
        continue;
      }
      const waiting = this.#log.sizeBytes - sent;
      if (!this.#ended && waiting < enoughToSend) await this.#gather();
      try {
        const data = await this.#log.readAt(sent, mostInOneCall);
        const request = create(AppendLogRequestSchema, { lease, offset: BigInt(sent), data });
        const { accepted, nextOffset } = await farm.appendLog(request);
        // One refusal is a gap, to be filled from the offset that the farm names. Two mean that the lease has ended.
        if (!accepted && ++refusals > 1) return;
        if (accepted) refusals = 0;
        sent = Math.min(Number(nextOffset), sent + data.byteLength);
        failures = 0;
      } catch {
        failures++;
        const pauseMs = backoffMs(failures, Math.random());
        await rest(this.#ended ? Math.min(lastRetryMs, pauseMs) : pauseMs, this.#hurry.signal);
      }
    }
  }

  #growth(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #gather(): Promise<void> {
    const enough = new AbortController();
    this.#wake = () => {
      if (this.#ended || this.#stopped.signal.aborted) enough.abort("enough");
    };
    await rest(gatherMs, enough.signal);
  }
}
