import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { type Sql, sql } from "#db/sql.ts";

/** The limit for listed references to a graph; a graph with more references is kept. */
const mostNeeding = 500;

/** A position in the list of graphs, which is ordered by their ends. */
export interface EndedGraph {
  readonly id: string;
  readonly finishedAt: Date;
}

const EndedRow = z.object({ id: z.string(), finishedAt: z.date() });

/**
 * Returns graphs that ended before a time, the earliest first, without subgraphs, which are deleted with their parents.
 */
export function graphsEndedBefore(
  tx: Tx,
  before: Date,
  after: EndedGraph | undefined,
  most: number,
): Promise<EndedGraph[]> {
  const beyond =
    after === undefined
      ? sql`true`
      : sql`(finished_at, id) > (${after.finishedAt}, ${after.id}::uuid)`;
  return tx.many(
    EndedRow,
    sql`
      select id, finished_at as "finishedAt" from graph
      where finished_at is not null and finished_at < ${before} and parent_kind is distinct from 'subgraph' and ${beyond}
      order by finished_at, id limit ${most}
    `,
  );
}

const FactsRow = z.object({
  id: z.string(),
  repository: z.string(),
  branch: z.string(),
  finishedAt: z.date().nullable(),
  newer: z.number(),
  isHeld: z.boolean(),
  isSubgraph: z.boolean(),
  neededBy: z.array(z.string()),
});

/**
 * Returns the facts that decide whether graphs are deleted, except branch protection and data of other modules.
 *
 * @param mostNewer up to how many newer graphs of a branch are counted
 */
export async function factsOfGraphs(tx: Tx, ids: readonly string[], mostNewer: number) {
  const rows = await tx.many(
    FactsRow,
    sql`
      select graph.id, graph.repository, graph.branch, graph.finished_at as "finishedAt",
        (select count(*) from (
          select from graph as newer
          where newer.repository = graph.repository and newer.branch = graph.branch and newer.number > graph.number
            and newer.parent_kind is distinct from 'subgraph'
          limit ${mostNewer}
        ) as counted) as newer,
        exists (select from retention_hold where retention_hold.graph_id = graph.id) as "isHeld",
        graph.parent_kind is not distinct from 'subgraph' as "isSubgraph",
        array(
          select needing.id::text from (
            select child.id from graph as child where child.parent_id = graph.id
            union select graph.parent_id where graph.parent_kind = 'subgraph'
            union select child_graph.graph_id from child_graph where child_graph.child = graph.id
            union select other.id from graph as other where other.set_id = graph.id and other.id <> graph.id
            union select job.graph_id from job where job.coalesced_graph = graph.id
            union select run.graph_id from run where run.cached_from_graph = graph.id
          ) as needing
          where needing.id <> graph.id limit ${mostNeeding}
        ) as "neededBy"
      from graph where graph.id = any(${ids}::uuid[])
    `,
  );
  return rows.map(({ finishedAt, ...row }) => ({
    ...row,
    finishedAt: finishedAt ?? undefined,
    isNeededByMore: row.neededBy.length >= mostNeeding,
  }));
}

/** Locks graphs for their deletion. Returns those that exist and that no other transaction is changing. */
export async function lockForDeletion(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.many(
    z.object({ id: z.string() }),
    sql`select id from graph where id = any(${ids}::uuid[]) order by id for update skip locked`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Deletes graphs with all of their data in this module. The caller has locked them and knows that no remaining graph
 * needs them. Entries of the audit log stay.
 */
export async function deleteGraphs(tx: Tx, ids: readonly string[]): Promise<void> {
  const these = sql`any(${ids}::uuid[])`;
  const statements: Sql[] = [
    sql`delete from named_set where id = ${these}`,
    sql`delete from work_batch where graph_id = ${these}`,
    sql`delete from work_item where graph_id = ${these}`,
    sql`delete from chunked_run where graph_id = ${these}`,
    sql`delete from notification where graph_id = ${these}`,
    sql`delete from run_report where graph_id = ${these}`,
    sql`delete from child_graph where graph_id = ${these} or child = ${these}`,
    sql`delete from run where graph_id = ${these}`,
    sql`delete from edge where graph_id = ${these}`,
    sql`delete from job where graph_id = ${these}`,
    sql`delete from graph_times where graph_id = ${these}`,
    sql`delete from graph where id = ${these}`,
  ];
  for (const statement of statements) await tx.run(statement);
}
