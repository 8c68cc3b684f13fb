import type { Db } from "#db/db.ts";
import { batchOutput } from "#graphs/chunks/batch-output.store.ts";
import type { GraphId } from "#graphs/graph-id.ts";
import { type RunOutput, runOutput } from "#graphs/job-detail.store.ts";
import { found } from "./found.ts";
import { graphIdOf } from "./graph-of-call.ts";

/** The run that a caller names. */
interface RunOfCall {
  readonly graph: GraphId;
  readonly output: RunOutput;
  /** For people: `run 2 of job "build" in graph …`. */
  readonly name: string;
}

/** Finds a run, or a batch of a chunked job's run. Throws `not_found`. */
export async function runOfCall(
  db: Db,
  { graph, job, run }: { readonly graph: string; readonly job: string; readonly run: number },
  batch?: number,
): Promise<RunOfCall> {
  const id = graphIdOf({ graph });
  const of = batch === undefined ? "" : `batch ${batch} of `;
  const name = `${of}run ${run} of job "${job}" in graph ${id}`;
  const output =
    batch === undefined
      ? await runOutput(db, id, job, run)
      : await batchOutput(db, id, job, run, batch);
  return { graph: id, output: found(output, name), name };
}
