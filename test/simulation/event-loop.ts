import { createHash, type Hash } from "node:crypto";
import { setImmediate as afterMicrotasks } from "node:timers";
import { Random } from "./random.ts";

/** A process of the simulated farm. When it has ended, nothing of it runs any more. */
export class SimulatedProcess {
  readonly name: string;
  isAlive = true;
  /** Until this time it is stopped, as by SIGSTOP: its events wait. */
  stoppedUntilMs = 0;

  constructor(name: string) {
    this.name = name;
  }
}

export interface Timer {
  readonly atMs: number;
  /** Decides between events of one time. */
  readonly order: number;
  readonly process: SimulatedProcess;
  readonly run: () => void;
  isCancelled: boolean;
}

/** Captured before the host's functions are replaced. */
const realSetImmediate = afterMicrotasks;

/**
 * The time, the randomness and the order of events of a simulated farm.
 *
 * One event runs at a time, then all promises that it settled, then the next event. All processes of the farm are in
 * this one process; an event belongs to one of them, and what it causes belongs to the same one. Nothing else may
 * wait: no real timer, file or socket.
 */
export class EventLoop {
  readonly random: Random;
  nowMs = Date.UTC(2030, 0, 1);
  readonly startedMs = this.nowMs;
  /** The process that the running event belongs to. */
  current = new SimulatedProcess("world");
  readonly world = this.current;
  steps = 0;
  readonly #hash: Hash = createHash("sha256");
  /** In order of time. */
  readonly #planned: Timer[] = [];
  readonly #onTrace: ((line: string) => void) | undefined;

  constructor(seed: number, onTrace?: (line: string) => void) {
    this.random = new Random(seed);
    this.#onTrace = onTrace;
  }

  /** Adds a line to the trace, whose digest is the same whenever the same seed is run. */
  trace(line: string): void {
    const at = ((this.nowMs - this.startedMs) / 1_000).toFixed(4);
    const text = `${at} ${this.current.name}: ${line}`;
    this.#hash.update(`${text}\n`);
    this.#onTrace?.(text);
  }

  digest(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Plans an event of a process. */
  after(delayMs: number, run: () => void, process: SimulatedProcess = this.current): Timer {
    const timer: Timer = {
      atMs: this.nowMs + Math.max(0, delayMs),
      order: this.random.next(),
      process,
      run,
      isCancelled: false,
    };
    this.#insert(timer);
    return timer;
  }

  cancel(timer: Timer): void {
    timer.isCancelled = true;
  }

  /** Resolves in the current process after a simulated time. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Runs events until `isOver`, or until the time. Returns whether it is over. */
  async run(isOver: () => boolean, untilMs: number): Promise<boolean> {
    while (!isOver()) {
      const next = this.#planned[0];
      if (next === undefined || next.atMs > untilMs) {
        this.nowMs = Math.max(this.nowMs, untilMs);
        return false;
      }
      this.#planned.shift();
      if (next.isCancelled || !next.process.isAlive) continue;
      if (next.process.stoppedUntilMs > next.atMs) {
        this.#insert({ ...next, atMs: next.process.stoppedUntilMs }, next);
        continue;
      }
      this.nowMs = next.atMs;
      this.current = next.process;
      this.steps++;
      next.run();
      // All promises settle before it resolves, and no other work exists.
      await new Promise<void>((resolve) => realSetImmediate(resolve));
    }
    this.current = this.world;
    return true;
  }

  /** Ends a process at once, as by SIGKILL. */
  kill(process: SimulatedProcess): void {
    process.isAlive = false;
  }

  #insert(timer: Timer, moved?: Timer): void {
    // The caller holds the first object and may still cancel it.
    const planned = moved === undefined ? timer : Object.assign(moved, { atMs: timer.atMs });
    let low = 0;
    let high = this.#planned.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#planned[middle] as Timer;
      const isBefore =
        other.atMs < planned.atMs || (other.atMs === planned.atMs && other.order <= planned.order);
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    this.#planned.splice(low, 0, planned);
  }
}
