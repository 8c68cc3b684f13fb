import { Fault } from "#core/fault.ts";
import { parseDuration } from "#definitions/duration.ts";

/** Returns how long each job of a graph may wait for its start, in ms; undefined without a limit. */
export function graphTtlMs(written: string | undefined): number | undefined {
  if (written === undefined) return undefined;
  const ms = parseDuration(written);
  if (ms !== undefined && ms >= 1_000 && ms <= 30 * 24 * 3_600_000) return ms;
  const shown = JSON.stringify(written.slice(0, 100));
  throw new Fault(
    "invalid_argument",
    `the ttl ${shown} is not a duration from 1s to 30d; write it like "15m" or "2h"`,
  );
}

/** A graph's ttl limits those of its jobs: the shorter one applies. */
export function lesserTtlMs(job: number | undefined, graph: number | undefined): number | null {
  if (job === undefined) return graph ?? null;
  return graph === undefined ? job : Math.min(job, graph);
}
