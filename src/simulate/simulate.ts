import { Fault } from "#core/fault.ts";
import type { Situation } from "#size-classes/strategy.ts";
import type { Chooser } from "./chooser.ts";
import { EventQueue } from "./event-queue.ts";
import { firstStoppingEvent } from "./first-stopping-event.ts";
import { drawFor } from "./random.ts";
import type { ExecutionRecord, RunPurpose, RunRecord, Simulated } from "./records.ts";
import { asEndedRun, type RequestedRun, type Run, type Underway, underwayOf } from "./run.ts";
import { type PoolEvent, SimulatedPools } from "./simulated-pools.ts";
import { endedAll, SimulationEvents, workerRecords } from "./simulation-events.ts";
import type { Trace } from "./trace.ts";
import type { SimulatedWorker } from "./worker-pool.ts";

/** The maximum number of leases of an execution in the farm (GLOSSARY: attempt). */
const mostLost = 5;
/** A strategy that requests more is faulty; each class twice would be 8 in the standard traces. */
const mostRuns = 40;
/** Separates the strategies' draws from those of the work. */
const choiceDraw = 100;

type Event =
  | PoolEvent
  | { readonly kind: "submit"; readonly index: number }
  | { readonly kind: "run-over"; readonly run: Run }
  | { readonly kind: "hedge-due"; readonly run: Run };

/** Simulates a small farm that executes a trace. The same arguments always give the same result. */
export function simulate(trace: Trace, chooser: Chooser, seed: number): Simulated {
  return new Simulation(trace, chooser, seed).run();
}

class Simulation {
  readonly #trace: Trace;
  readonly #chooser: Chooser;
  readonly #seed: number;
  readonly #past: SimulationEvents;
  readonly #events = new EventQueue<Event>();
  readonly #pools: SimulatedPools;
  readonly #records: (ExecutionRecord | undefined)[];
  #now: number;

  constructor(trace: Trace, chooser: Chooser, seed: number) {
    this.#trace = trace;
    this.#chooser = chooser;
    this.#seed = seed;
    this.#past = new SimulationEvents(trace);
    this.#now = trace.executions[0]?.at ?? 0;
    this.#pools = new SimulatedPools(trace.header, this.#now, (inMs, event) =>
      this.#events.add(this.#now + inMs, event),
    );
    this.#records = trace.executions.map(() => undefined);
  }

  run(): Simulated {
    this.#awaitSubmission(0);
    for (let next = this.#events.next(); next !== undefined; next = this.#events.next()) {
      this.#now = next.at;
      this.#happen(next.event);
    }
    const { runs } = this.#past;
    return {
      strategy: this.#chooser.name,
      executions: endedAll(this.#records),
      runs,
      workers: workerRecords(this.#pools, runs.at(-1)?.endedAt ?? this.#now),
    };
  }

  #happen(event: Event): void {
    switch (event.kind) {
      case "submit":
        return this.#submit(event.index);
      case "worker-up":
        this.#pools.isUp(event.worker);
        return this.#giveWork(event.worker);
      case "idle-over":
        return this.#pools.idleOver(event.worker, event.spell, this.#now);
      case "run-over":
        return this.#over(event.run);
      case "hedge-due":
        return this.#hedge(event.run);
    }
  }

  #awaitSubmission(index: number): void {
    const execution = this.#trace.executions[index];
    if (execution !== undefined) this.#events.add(execution.at, { kind: "submit", index });
  }

  #submit(index: number): void {
    const execution = this.#trace.executions[index];
    if (execution === undefined) return;
    const of = underwayOf(execution, index);
    of.first = this.#chooser.choose(this.#situation(of), of.execution);
    this.#enqueue(of, "first", of.first);
    this.#awaitSubmission(index + 1);
  }

  #situation(of: Underway): Situation {
    return {
      histories: this.#past.historiesOf(of.execution.keys),
      classes: this.#pools.offered(this.#now),
      timeoutMs: of.execution.timeoutMs,
      now: this.#past.date(this.#now),
      draw: drawFor(this.#seed, of.index, choiceDraw, of.choices++),
    };
  }

  #enqueue(of: Underway, purpose: RunPurpose, requested: RequestedRun): void {
    if (of.begun >= mostRuns) throw this.#tooManyRuns(of);
    const run: Run = {
      of,
      place: of.index,
      purpose,
      wanted: this.#indexOf(requested.sizeClass),
      isExact: requested.isExact,
      expectedMs: requested.expectedMs,
      timeoutMs: Math.max(1, Math.min(requested.timeoutMs, of.execution.timeoutMs)),
      hedge: requested.hedge,
      state: { kind: "waiting" },
    };
    if (purpose !== "background") of.live.push(run);
    const worker = this.#pools.assign(run, this.#now);
    if (worker !== undefined) this.#start(run, worker);
  }

  #giveWork(worker: SimulatedWorker): void {
    const run = this.#pools.nextFor(worker);
    if (run !== undefined) this.#start(run, worker);
  }

  #start(run: Run, worker: SimulatedWorker): void {
    const { of, hedge } = run;
    const attempt = of.attempts;
    const result = firstStoppingEvent(
      this.#trace.header,
      of.execution,
      this.#pools.classAt(worker.classIndex),
      {
        seed: this.#seed,
        execution: of.index,
        run: of.begun++,
        attempt,
        timeoutMs: run.timeoutMs,
      },
    );
    if (result.end !== "lost") of.attempts += 1;
    run.state = { kind: "running", worker, startedAt: this.#now, attempt, result };
    of.startedAt ??= this.#now;
    this.#pools.begin(run, worker);
    this.#events.add(this.#now + result.durationMs, { kind: "run-over", run });
    if (hedge !== undefined && hedge.afterMs < result.durationMs)
      this.#events.add(this.#now + Math.max(0, hedge.afterMs), { kind: "hedge-due", run });
  }

  #hedge(run: Run): void {
    const { of, hedge, state } = run;
    if (state.kind !== "running" || hedge === undefined || of.live.length > 1) return;
    // A larger class may have taken it.
    if (state.result.sizeClass >= hedge.sizeClass) return;
    const known = of.first?.alternatives.find(({ sizeClass }) => sizeClass === hedge.sizeClass);
    this.#enqueue(of, "hedge", {
      sizeClass: hedge.sizeClass,
      isExact: false,
      expectedMs: known?.expectedMs ?? run.expectedMs,
      timeoutMs: of.execution.timeoutMs,
      hedge: undefined,
    });
  }

  #over(run: Run): void {
    const { of, state } = run;
    if (state.kind !== "running") return;
    const { worker, result, attempt } = state;
    this.#leave(run, result.end);
    this.#past.recordForStrategies(of, asEndedRun(result), this.#now);
    // A run that was lost by a fault of the farm keeps its worker.
    const isGone =
      result.end === "lost" && !result.infrastructure && this.#pools.lose(worker, this.#now);
    // First the free worker: follow-up runs of this execution come after waiting runs.
    if (!isGone) this.#giveWork(worker);
    if (run.purpose === "background") this.#past.updateHistories(of, this.#now);
    else this.#decide(run, worker.classIndex, result, attempt);
  }

  #decide(
    run: Run,
    classIndex: number,
    result: { readonly end: RunRecord["end"]; readonly infrastructure: boolean },
    attempt: number,
  ): void {
    const { of } = run;
    const { end } = result;
    if (of.first === undefined || end === "cancelled") return;
    if (end === "lost") of.lost += 1;
    if (end !== "succeeded" && mayEndBetter(of, end === "lost" ? 0 : classIndex)) return;
    this.#cancelOthers(of);
    const finish = () => {
      this.#past.updateHistories(of, this.#now);
      this.#records[of.index] = {
        submittedAt: of.execution.at,
        startedAt: of.startedAt ?? this.#now,
        endedAt: this.#now,
        end,
        classIndex,
        attempt,
      };
    };
    if (end === "lost" && of.lost >= mostLost) return finish();
    // The farm knows that the action was not the cause: its queue retries the run.
    if (result.infrastructure) return this.#enqueue(of, "retry", this.#sameAgain(run));
    const next = this.#chooser.afterwards(this.#situation(of), of.first, of.ended);
    if (next.kind === "again") return this.#enqueue(of, "retry", next.choice);
    if (end === "lost") return this.#enqueue(of, "retry", this.#sameAgain(run));
    finish();
    if (next.background !== undefined)
      this.#enqueue(of, "background", { ...next.background, isExact: true, hedge: undefined });
  }

  #cancelOthers(of: Underway): void {
    const others = of.live;
    of.live = [];
    for (const other of others) {
      const { state } = other;
      if (state.kind === "running") {
        const ranMs = Math.max(1, this.#now - state.startedAt);
        this.#leave(other, "cancelled");
        // It is only known that the run has not ended so far.
        const { sizeClass } = state.result;
        const ended = { sizeClass, end: "timed_out", durationMs: ranMs, timeoutMs: ranMs } as const;
        this.#past.recordForStrategies(of, ended, this.#now, -1);
        this.#giveWork(state.worker);
      } else {
        this.#pools.withdraw(other);
        other.state = { kind: "over" };
      }
    }
  }

  #leave(run: Run, end: RunRecord["end"]): void {
    const { of, state } = run;
    if (state.kind !== "running") return;
    this.#past.recordRun(run, end, this.#now);
    this.#pools.end(run, state.worker, this.#now - state.startedAt);
    run.state = { kind: "over" };
    of.live = of.live.filter((each) => each !== run);
  }

  #sameAgain({ wanted, isExact, expectedMs, timeoutMs, hedge }: Run): RequestedRun {
    const { sizeClass } = this.#pools.classAt(wanted);
    return { sizeClass, isExact, expectedMs, timeoutMs, hedge };
  }

  #indexOf(sizeClass: number): number {
    const index = this.#trace.header.classes.findIndex((each) => each.sizeClass === sizeClass);
    if (index !== -1) return index;
    const { name } = this.#chooser;
    throw new Fault(
      "internal",
      `strategy ${name} chose size class ${sizeClass}, which is not offered`,
    );
  }

  #tooManyRuns({ index }: Underway): Fault {
    const { name } = this.#chooser;
    return new Fault(
      "internal",
      `strategy ${name} asks for run ${mostRuns + 1} of execution ${index + 1}`,
    );
  }
}

/** Whether another run on the same or a larger class may still end better. */
function mayEndBetter({ live }: Underway, classIndex: number): boolean {
  return live.some(
    ({ state }) => state.kind === "running" && state.worker.classIndex >= classIndex,
  );
}
