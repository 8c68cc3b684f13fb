import { rest } from "#core/resting.ts";
import type { ExecutionPlace } from "./execution-places.ts";

/** The clean-up after an execution: the steps in their order, then its directory. */
export interface Clearing {
  place: ExecutionPlace | undefined;
  readonly steps: (() => Promise<void>)[];
}

/**
 * How long a clean-up waits for the sending of a result. A report takes about 10 ms; while the farm is unreachable,
 * directories, groups and mounts must not accumulate.
 */
const mostReportMs = 50;

/** Cleans up after executions. A result that must be delivered is sent first. */
export class ExecutionCleanups {
  readonly #underWay = new Set<Promise<void>>();

  /** Starts at once when no result has to be delivered first. */
  add(
    { steps, place }: Clearing,
    reported: Promise<unknown> | undefined,
    /** Settles when the report has been sent. */
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

  /** Resolves when all added clean-ups are complete. */
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
