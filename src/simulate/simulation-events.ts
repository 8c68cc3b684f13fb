import { Fault } from "#core/fault.ts";
import type { KeyHistory } from "#size-classes/key-history.ts";
import type { EndedRun } from "#size-classes/strategy.ts";
import { FarmMemory } from "./farm-memory.ts";
import { learnFrom } from "./learn-from.ts";
import type { ExecutionRecord, RunRecord, WorkerRecord } from "./records.ts";
import type { Run, Underway } from "./run.ts";
import type { SimulatedPools } from "./simulated-pools.ts";
import type { Trace, TraceKeys } from "./trace.ts";

/** The events of a simulation: all of them for the figures, and for strategies those that a farm stores. */
export class SimulationEvents {
  readonly #memory = new FarmMemory();
  readonly #greatest: number;
  readonly #calendarRate: number;
  readonly #runs: RunRecord[] = [];

  constructor({ header }: Trace) {
    this.#greatest = header.classes.at(-1)?.sizeClass ?? 1;
    this.#calendarRate = header.calendarRate;
  }

  get runs(): readonly RunRecord[] {
    return this.#runs;
  }

  /** Returns the time in the form that strategies get. */
  date(at: number): number {
    return at * this.#calendarRate;
  }

  historiesOf(keys: TraceKeys): KeyHistory[] {
    return this.#memory.historiesOf(keys);
  }

  /** Records the end of a started run. */
  recordRun(run: Run, end: RunRecord["end"], now: number): void {
    const { of, state, purpose } = run;
    if (state.kind !== "running") return;
    const { worker, startedAt, attempt } = state;
    const { classIndex, id } = worker;
    this.#runs.push({
      execution: of.index,
      purpose,
      classIndex,
      worker: id,
      startedAt,
      endedAt: now,
      end,
      attempt,
    });
  }

  /** Records a run for strategies. The latest run is the last, apart from runs that were cancelled because of it. */
  recordForStrategies(of: Underway, ended: EndedRun, now: number, place = of.ended.length): void {
    of.ended.splice(place, 0, ended);
    of.endedAt.set(ended, this.date(now));
  }

  /** Called when an execution has ended, as in the farm; and again when its background run has ended. */
  updateHistories(of: Underway, now: number): void {
    learnFrom(this.#memory, of, this.#greatest, this.date(now));
  }
}

export function endedAll(records: readonly (ExecutionRecord | undefined)[]): ExecutionRecord[] {
  return records.map((record, index) => {
    if (record !== undefined) return record;
    throw new Fault("internal", `execution ${index + 1} of the trace never ended`);
  });
}

/** @param end The time until which workers that still run are paid. */
export function workerRecords({ pools }: SimulatedPools, end: number): WorkerRecord[] {
  return pools.flatMap(({ all }) =>
    all.map(({ classIndex, id, since, until, busyMs }) => ({
      classIndex,
      id,
      since,
      until: until ?? end,
      busyMs,
    })),
  );
}
