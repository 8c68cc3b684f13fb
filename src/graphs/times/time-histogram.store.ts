import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Upper bounds of the buckets, in seconds. 900 is the promised goal; an hour is too long in any case. */
export const histogramBoundsSeconds = [
  0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900, 1_800, 3_600,
] as const;

const Bucket = z.object({
  measure: z.enum(["wait", "run"]),
  // As text: the last bound is infinite.
  uptoSeconds: z.string().transform(Number),
  runs: z.number(),
  seconds: z.number(),
});

/** A histogram in the format of Prometheus: each bucket also counts the values of the lower ones. */
export interface TimeHistogram {
  /** In the order of `histogramBoundsSeconds`. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sumSeconds: number;
}

/** Returns how long the runs of this farm waited and ran, since its beginning. */
export async function timeHistograms(
  tx: Tx,
): Promise<{ readonly wait: TimeHistogram; readonly run: TimeHistogram }> {
  const rows = await tx.many(
    Bucket,
    sql`select measure, upto_seconds::text as "uptoSeconds", runs, seconds from time_histogram`,
  );
  const histogram = (measure: "wait" | "run"): TimeHistogram => {
    const own = rows.filter((row) => row.measure === measure);
    const upTo = (bound: number) =>
      own.reduce((sum, { uptoSeconds, runs }) => sum + (uptoSeconds <= bound ? runs : 0), 0);
    return {
      counts: histogramBoundsSeconds.map(upTo),
      count: upTo(Number.POSITIVE_INFINITY),
      sumSeconds: own.reduce((sum, { seconds }) => sum + seconds, 0),
    };
  };
  return { wait: histogram("wait"), run: histogram("run") };
}
