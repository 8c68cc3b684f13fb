import { rest } from "#core/resting.ts";
import type { ExecutionPlace } from "./execution-places.ts";

/** The clean-up after an execution: the steps in their order, then its place. */
export interface Clearing {
  place: ExecutionPlace | undefined;
  readonly steps: (() => Promise<void>)[];
}

/**
 * How long a result on its way goes first. A report takes some 10 ms; while the farm is
 * away, directories, groups and mounts are not to pile up.
 */
const mostReportMs = 50;

/** Cleans up after executions; when a result has to be delivered, after that. */
export class Clearings {
  readonly #underWay = new Set<Promise<void>>();

  /** Begins at once when nothing has to be delivered first. */
  add(
    { steps, place }: Clearing,
    reported: Promise<unknown> | undefined,
    /** Settles when the report is on its way. */
    sent?: Promise<unknown>,
  ): void {
    void sent?.then(() => place?.left());
    const clear = async () => {
      if (reported !== undefined) await settledWithin(reported, mostReportMs);
      for (const step of steps) await step().catch(() => {});
      await place?.dispose();
    };
    const clearing = clear().finally(() => this.#underWay.delete(clearing));
    this.#underWay.add(clearing);
  }

  /** Resolves when nothing of those that were added is left. */
  async over(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}

async function settledWithin(waited: Promise<unknown>, ms: number): Promise<void> {
  const enough = new AbortController();
  const stop = () => enough.abort("settled");
  waited.then(stop, stop);
  await rest(ms, enough.signal);
}
