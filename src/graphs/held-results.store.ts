import { z } from "zod";
import { parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

const Place = z.object({ graph: z.string(), job: z.string(), run: z.number(), batch: z.number() });

const HeldResult = z.object({
  ...Place.shape,
  /** Where the blobs are that it names. */
  project: z.string(),
  actionDigest: z
    .string()
    .nullable()
    .transform((key) => (key === null ? undefined : parseDigestKey(key))),
  /** An REv2 ActionResult, binary. */
  result: z.instanceof(Uint8Array),
});
export type HeldResult = z.infer<typeof HeldResult>;

const atOnce = 200;
const beginning = { graph: "00000000-0000-0000-0000-000000000000", job: "", run: 0, batch: 0 };

/** Results of unfinished graphs: their other jobs may still use them. */
export function resultsOfGraphsUnderWay(tx: Tx): AsyncGenerator<HeldResult, void, undefined> {
  return resultsOf(tx, sql`graph.state = 'running'`);
}

/** Results of graphs that ended since: people look at them. */
export function resultsOfGraphsSince(
  tx: Tx,
  since: Date,
): AsyncGenerator<HeldResult, void, undefined> {
  return resultsOf(tx, sql`graph.finished_at >= ${since}`);
}

async function* resultsOf(tx: Tx, which: Sql): AsyncGenerator<HeldResult, void, undefined> {
  let after: z.infer<typeof Place> = beginning;
  for (;;) {
    const page: HeldResult[] = await tx.many(
      HeldResult,
      sql`
        select made.graph_id as graph, made.job, made.run, made.batch, graph.project,
          made.action_digest as "actionDigest", made.result
        from graph cross join lateral (
          select graph_id, job, number as run, 0 as batch, action_digest, result
          from run where run.graph_id = graph.id and result is not null
          union all
          select graph_id, job, run, number, action_digest, result
          from work_batch where work_batch.graph_id = graph.id and result is not null
        ) as made
        where ${which}
          and (made.graph_id, made.job, made.run, made.batch)
            > (${after.graph}::uuid, ${after.job}, ${after.run}::integer, ${after.batch}::integer)
        order by made.graph_id, made.job, made.run, made.batch
        limit ${atOnce}
      `,
    );
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < atOnce) return;
    after = last;
  }
}

const InputRoot = z.object({
  project: z.string(),
  root: z.string().transform(parseDigestKey),
});

/** Returns the files that all batches of unfinished chunked runs see. */
export function rootsOfChunkedRuns(tx: Tx): Promise<z.infer<typeof InputRoot>[]> {
  return tx.many(
    InputRoot,
    sql`
      select distinct graph.project, input_root as root
      from chunked_run join graph on graph.id = chunked_run.graph_id
      where chunked_run.state <> 'over'
    `,
  );
}
