import type { TraceClass } from "./trace.ts";

/** Executes one run at a time. */
export interface SimulatedWorker {
  readonly id: number;
  /** The index of its class in the trace's header. */
  readonly classIndex: number;
  /** The time from which it is paid: that of the request for it. */
  readonly since: number;
  until: number | undefined;
  busyMs: number;
  /** Counts its idle periods, so that an old timer does not end a new period. */
  spell: number;
}

/** The workers of one class. */
export class WorkerPool {
  readonly all: SimulatedWorker[] = [];
  readonly of: TraceClass;
  readonly #classIndex: number;
  readonly #idle: SimulatedWorker[] = [];
  readonly #starting = new Map<number, number>();
  #up = 0;

  constructor(of: TraceClass, classIndex: number, now: number) {
    this.of = of;
    this.#classIndex = classIndex;
    if (of.pool.kind === "fixed")
      for (let i = 0; i < of.pool.workers; i++) this.#idle.push(this.#add(now));
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** Requested, but not started yet. */
  get starting(): number {
    return this.#starting.size;
  }

  get count(): number {
    return this.#up;
  }

  /** When the first worker that is being started will be ready. */
  get nextUpAt(): number | undefined {
    // In the order of the requests, because all take the same time to start.
    return this.#starting.values().next().value;
  }

  get mayGrow(): boolean {
    return this.of.pool.kind === "elastic" && this.#up < this.of.pool.most;
  }

  get startDelayMs(): number {
    return this.of.pool.kind === "elastic" ? this.of.pool.startDelayMs : 0;
  }

  start(now: number): SimulatedWorker {
    const worker = this.#add(now);
    this.#starting.set(worker.id, now + this.startDelayMs);
    return worker;
  }

  isUp(worker: SimulatedWorker): void {
    this.#starting.delete(worker.id);
  }

  /** Returns the worker that worked last, so that the others can stop. */
  takeIdle(): SimulatedWorker | undefined {
    const worker = this.#idle.pop();
    if (worker !== undefined) worker.spell += 1;
    return worker;
  }

  restIdle(worker: SimulatedWorker): void {
    worker.spell += 1;
    this.#idle.push(worker);
  }

  /** Returns whether the worker stops: it has been idle since that period started. */
  leave(worker: SimulatedWorker, spell: number, now: number): boolean {
    const index = this.#idle.indexOf(worker);
    if (worker.spell !== spell || index === -1) return false;
    this.#idle.splice(index, 1);
    this.gone(worker, now);
    return true;
  }

  gone(worker: SimulatedWorker, now: number): void {
    worker.until = now;
    this.#up -= 1;
  }

  #add(now: number): SimulatedWorker {
    const worker: SimulatedWorker = {
      id: this.all.length,
      classIndex: this.#classIndex,
      since: now,
      until: undefined,
      busyMs: 0,
      spell: 0,
    };
    this.all.push(worker);
    this.#up += 1;
    return worker;
  }
}
