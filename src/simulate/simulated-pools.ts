import type { OfferedClass } from "#size-classes/strategy.ts";
import type { Run } from "./run.ts";
import type { TraceClass, TraceHeader } from "./trace.ts";
import { WaitingRuns } from "./waiting-runs.ts";
import { type SimulatedWorker, WorkerPool } from "./worker-pool.ts";

/** Events that the pools schedules. */
export type PoolEvent =
  | { readonly kind: "worker-up"; readonly worker: SimulatedWorker }
  | { readonly kind: "idle-over"; readonly worker: SimulatedWorker; readonly spell: number };

/** One class: its workers, its queue, its running executions. */
interface Bench {
  readonly pool: WorkerPool;
  readonly waiting: WaitingRuns<Run>;
  /** Runs that only measure. They start when no other run waits for the class. */
  readonly background: WaitingRuns<Run>;
  readonly running: Set<Run>;
}

/** Workers of all classes, and the runs that wait for them. */
export class SimulatedPools {
  readonly #benches: readonly Bench[];
  readonly #later: (inMs: number, event: PoolEvent) => void;

  constructor(
    { classes, order }: TraceHeader,
    now: number,
    later: (inMs: number, event: PoolEvent) => void,
  ) {
    this.#later = later;
    this.#benches = classes.map((each, index) => ({
      pool: new WorkerPool(each, index, now),
      waiting: new WaitingRuns(order),
      background: new WaitingRuns("first-come"),
      running: new Set(),
    }));
  }

  get pools(): readonly WorkerPool[] {
    return this.#benches.map(({ pool }) => pool);
  }

  classAt(index: number): TraceClass {
    return this.#bench(index).pool.of;
  }

  /** The classes as strategies see them. */
  offered(now: number): OfferedClass[] {
    return this.#benches.map((bench) => {
      const { sizeClass, cpus, memoryBytes, price } = bench.pool.of;
      return { sizeClass, cpus, memoryBytes, price, waitMs: expectedWaitMs(bench, now) };
    });
  }

  /** Assigns an idle worker of its class, or of the smallest larger class that may take it; otherwise the run waits. */
  assign(run: Run, now: number): SimulatedWorker | undefined {
    const most = run.isExact ? run.wanted : this.#benches.length - 1;
    for (let index = run.wanted; index <= most; index += 1) {
      const worker = this.#bench(index).pool.takeIdle();
      if (worker !== undefined) return worker;
    }
    const bench = this.#bench(run.wanted);
    (run.purpose === "background" ? bench.background : bench.waiting).add(run);
    this.#grow(bench, now);
    return undefined;
  }

  withdraw(run: Run): void {
    this.#bench(run.wanted).waiting.remove(run);
  }

  begin(run: Run, worker: SimulatedWorker): void {
    this.#bench(worker.classIndex).running.add(run);
  }

  end(run: Run, worker: SimulatedWorker, ranMs: number): void {
    this.#bench(worker.classIndex).running.delete(run);
    worker.busyMs += ranMs;
  }

  isUp(worker: SimulatedWorker): void {
    this.#bench(worker.classIndex).pool.isUp(worker);
  }

  /** Returns the next run for a free worker; undefined: it stays idle. */
  nextFor(worker: SimulatedWorker): Run | undefined {
    const own = this.#bench(worker.classIndex);
    let run = own.waiting.take(false);
    for (let lesser = worker.classIndex - 1; lesser >= 0 && run === undefined; lesser -= 1)
      run = this.#bench(lesser).waiting.take(true);
    run ??= own.background.take(false);
    if (run === undefined) this.#rest(own.pool, worker);
    return run;
  }

  idleOver(worker: SimulatedWorker, spell: number, now: number): void {
    this.#bench(worker.classIndex).pool.leave(worker, spell, now);
  }

  /** Returns whether the worker is lost permanently; a fixed one is replaced at once. */
  lose(worker: SimulatedWorker, now: number): boolean {
    const bench = this.#bench(worker.classIndex);
    if (bench.pool.of.pool.kind === "fixed") return false;
    bench.pool.gone(worker, now);
    this.#grow(bench, now);
    return true;
  }

  #rest(pool: WorkerPool, worker: SimulatedWorker): void {
    pool.restIdle(worker);
    if (pool.of.pool.kind === "elastic")
      this.#later(pool.of.pool.idleMs, { kind: "idle-over", worker, spell: worker.spell });
  }

  /** Starts one worker for each waiting run. None is started for background runs, as in a farm: they may never run. */
  #grow({ pool, waiting }: Bench, now: number): void {
    while (pool.mayGrow && pool.starting < waiting.count)
      this.#later(pool.startDelayMs, { kind: "worker-up", worker: pool.start(now) });
  }

  #bench(index: number): Bench {
    const bench = this.#benches[index];
    if (bench === undefined) throw new RangeError(`no class at ${index}`);
    return bench;
  }
}

/** Estimates like a farm: from expected durations, not from the trace. */
function expectedWaitMs({ pool, waiting, running }: Bench, now: number): number {
  if (pool.idle > 0) return 0;
  const left = [...running].map((run) => expectedLeftMs(run, now));
  const untilUpMs = Math.max(0, (pool.nextUpAt ?? now) - now);
  const busyMs = left.reduce((sum, each) => sum + each, 0) + pool.starting * untilUpMs;
  const soonestMs = Math.min(...left, pool.starting > 0 ? untilUpMs : Infinity);
  const untilFreeMs = waiting.count === 0 ? soonestMs : (waiting.expectedMs + busyMs) / pool.count;
  const startedMs = pool.mayGrow ? pool.startDelayMs : Infinity;
  return Math.round(Math.min(untilFreeMs, startedMs));
}

/** A run that takes longer than expected is assumed to take the same time again. */
function expectedLeftMs({ state, expectedMs }: Run, now: number): number {
  if (state.kind !== "running") return 0;
  const ranMs = now - state.startedAt;
  return ranMs < expectedMs ? expectedMs - ranMs : ranMs;
}
