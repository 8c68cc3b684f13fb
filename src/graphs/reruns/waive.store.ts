import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { edgeStatus } from "../advancing/edge-status.ts";
import { jobsNamed } from "../advancing/graph-part.store.ts";
import { reasonToSkip } from "../advancing/reason-to-skip.ts";
import type { GraphId } from "../graph-id.ts";
import type { SnapshotEdge } from "./graph-snapshot.ts";

type WaivedEdge = Pick<SnapshotEdge, "job" | "on" | "condition">;

/** Marks an edge as met, independent of the other job. The graph is locked; advance the job afterwards. */
export async function waiveEdge(
  tx: Tx,
  graphId: GraphId,
  { job, on }: WaivedEdge,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> {
  await tx.run(sql`
    with old as (
      select status from edge where graph_id = ${graphId} and job = ${job} and on_job = ${on}
    ),
    waived as (
      update edge
      set status = 'met', waived_by = ${by}, waived_reason = ${reason}, waived_at = now()
      where graph_id = ${graphId} and job = ${job} and on_job = ${on}
    )
    update job
    set open_edges = open_edges - (old.status = 'open')::integer,
        failed_edges = failed_edges - (old.status = 'failed')::integer
    from old
    where graph_id = ${graphId} and name = ${job}
  `);
}

/** Removes a waiver: the edge depends on the other job again. */
export async function unwaiveEdge(
  tx: Tx,
  graphId: GraphId,
  { job, on, condition }: WaivedEdge,
): Promise<void> {
  const awaited = (await jobsNamed(tx, [{ graphId, name: on }])).get(graphId)?.[0];
  if (awaited === undefined) return;
  const status = edgeStatus({ condition, waived: false }, awaited);
  await tx.run(sql`
    update edge
    set status = ${status}, waived_by = null, waived_reason = null, waived_at = null
    where graph_id = ${graphId} and job = ${job} and on_job = ${on}
  `);
  await tx.run(sql`
    update job
    set open_edges = open_edges + ${status === "open" ? 1 : 0},
        failed_edges = failed_edges + ${status === "failed" ? 1 : 0},
        reason = coalesce(${status === "failed" ? reasonToSkip(awaited) : null}, reason)
    where graph_id = ${graphId} and name = ${job}
  `);
}
