import type { TraceHeader } from "./trace.ts";

/** The parts of a run that a queue needs. */
interface Waiting {
  /** The index of its execution in the trace: the smallest is first. */
  readonly place: number;
  readonly expectedMs: number;
  readonly isExact: boolean;
}

/** The runs that wait for one class. */
export class WaitingRuns<R extends Waiting> {
  readonly #order: TraceHeader["order"];
  readonly #runs: R[] = [];
  #expectedMs = 0;

  constructor(order: TraceHeader["order"]) {
    this.#order = order;
  }

  get count(): number {
    return this.#runs.length;
  }

  /** The sum over all runs. */
  get expectedMs(): number {
    return this.#expectedMs;
  }

  add(run: R): void {
    let least = 0;
    let most = this.#runs.length;
    while (least < most) {
      const middle = (least + most) >> 1;
      const other = this.#runs[middle];
      if (other !== undefined && this.#goesBefore(run, other)) most = middle;
      else least = middle + 1;
    }
    this.#runs.splice(least, 0, run);
    this.#expectedMs += run.expectedMs;
  }

  /** Returns the first run, or the first one that a larger class may take. */
  take(forGreater: boolean): R | undefined {
    const index = forGreater ? this.#runs.findIndex((run) => !run.isExact) : 0;
    return index === -1 ? undefined : this.#removeAt(index);
  }

  remove(run: R): void {
    const index = this.#runs.indexOf(run);
    if (index !== -1) this.#removeAt(index);
  }

  #removeAt(index: number): R | undefined {
    const [run] = this.#runs.splice(index, 1);
    if (run !== undefined) this.#expectedMs -= run.expectedMs;
    if (this.#runs.length === 0) this.#expectedMs = 0;
    return run;
  }

  #goesBefore(one: R, other: R): boolean {
    if (this.#order === "longest-first" && one.expectedMs !== other.expectedMs)
      return one.expectedMs > other.expectedMs;
    return one.place < other.place;
  }
}
