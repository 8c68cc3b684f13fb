import { chooseProcess } from "./choose-process.ts";
import { KeptProcess } from "./kept-process.ts";
import type { WorkerProtocol } from "./worker-protocol.ts";

/** A process without requests ends after this time. */
const defaultIdleMs = 5 * 60_000;

/** How often idle processes end if a collector measures on this machine. */
const lookAtMeasuringMs = 1_000;

/** The processes that a worker keeps for further actions. */
export class ProcessPool {
  readonly #most: number;
  readonly #idleMs: number;
  /** Each counts until its memory is free. */
  readonly #kept = new Set<KeptProcess>();
  readonly #timers = new Map<KeptProcess, NodeJS.Timeout>();
  /** Whether a collector measures on this machine: also idle processes, such as virtual machines, would disturb it. */
  readonly #isMeasured: () => boolean;
  /** Runs while there are idle processes. */
  #looking: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(most: number, isMeasured: () => boolean, idleMs = defaultIdleMs) {
    this.#most = most;
    this.#isMeasured = isMeasured;
    this.#idleMs = idleMs;
  }

  /**
   * Returns a process for the caller alone, which may have to be started; undefined when all are busy. The caller must
   * call `giveBack` or `end`.
   */
  async take(key: string, protocol: WorkerProtocol): Promise<KeptProcess | undefined> {
    if (this.#closed) return undefined;
    const choice = chooseProcess([...this.#kept], key, this.#most);
    switch (choice.kind) {
      case "none":
        return undefined;
      case "use":
        clearTimeout(this.#timers.get(choice.process));
        choice.process.isBusy = true;
        return choice.process;
      case "start": {
        const process = new KeptProcess(key, protocol, (broken) => {
          if (!broken.isBusy) void this.end(broken);
        });
        const { after } = choice;
        if (after !== undefined) {
          // Not to be chosen by others.
          after.isBusy = true;
          clearTimeout(this.#timers.get(after));
          this.#kept.add(process);
          await this.end(after);
        } else this.#kept.add(process);
        return process;
      }
    }
  }

  giveBack(process: KeptProcess): void {
    process.isBusy = false;
    process.lastUsedMs = performance.now();
    if (this.#closed || process.isBroken) {
      void this.end(process);
      return;
    }
    const timer = setTimeout(() => {
      if (!process.isBusy) void this.end(process);
    }, this.#idleMs);
    this.#timers.set(process, timer);
    this.#looking ??= setInterval(() => this.#lookAtMeasuring(), lookAtMeasuringMs);
  }

  #lookAtMeasuring(): void {
    const idle = [...this.#kept].filter(({ isBusy }) => !isBusy);
    if (idle.length === 0) {
      clearInterval(this.#looking);
      this.#looking = undefined;
    } else if (this.#isMeasured()) for (const process of idle) void this.end(process);
  }

  async end(process: KeptProcess): Promise<void> {
    process.isBusy = true;
    clearTimeout(this.#timers.get(process));
    this.#timers.delete(process);
    // What cannot be removed is removed by the next start of the worker.
    await process.end().catch(() => {});
    this.#kept.delete(process);
  }

  /** Ends all processes, after the last action. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looking);
    await Promise.all([...this.#kept].map((process) => this.end(process)));
  }
}
