import { z } from "zod";
import { SwitchValues } from "#api/graph-choice.ts";
import { GraphState } from "#api/job-state.ts";
import type { MadeGraph } from "#api/server-job.ts";
import { CommitSha } from "#core/commit-sha.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { GraphId } from "../graph-id.ts";

const Definition = z.custom<JobDefinition>((body) => typeof body === "object");

const RunToPlan = z.object({
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  definition: Definition,
  /** The result of its commands: an REv2 ActionResult, binary. Null when it has no commands. */
  result: z.instanceof(Uint8Array).nullable(),
  set: GraphId,
  repository: z.string(),
  url: z.string(),
  commit: CommitSha,
  rev: z.string(),
  subject: z.string(),
  author: z.string(),
  committedAt: z.date(),
  parameters: z.record(z.string(), z.unknown()),
  switches: SwitchValues,
  /** The definitions that its graph was made of; null where they are not known. */
  templateCatalog: z.string().nullable(),
  /** Where the outputs of its commands are. */
  project: z.string(),
  domain: TrustDomain,
  skipCache: z.boolean(),
  branch: z.string(),
  priority: z.number(),
  priorityCap: z.number().nullable(),
  top: z.boolean(),
  submittedBy: z.string(),
});
/** A run whose graph is to be planned, with everything that the graph inherits from its parent. */
export type RunToPlan = z.infer<typeof RunToPlan>;

/** Takes runs whose graphs are to be planned; no other server takes them until `until`. */
export function takeRunsToPlan(tx: Tx, now: Date, until: Date, most: number): Promise<RunToPlan[]> {
  return tx.many(
    RunToPlan,
    sql`
      with due as (
        select run.graph_id, run.job, run.number
        from run join job on job.graph_id = run.graph_id and job.name = run.job
        where run.state <> 'finished' and run.served_by = 'farm' and run.due_at <= ${now}
          and job.kind = 'graph'
        order by run.due_at
        limit ${most}
        for update of run skip locked
      ),
      taken as (
        update run set due_at = ${until}
        from due
        where run.graph_id = due.graph_id and run.job = due.job and run.number = due.number
        returning run.graph_id, run.job, run.number, run.result
      )
      select taken.graph_id as "graphId", taken.job, taken.number as run, taken.result,
             definition.body as definition, graph.set_id as set, graph.repository, repository.url,
             graph.commit, graph.rev, graph.subject, graph.author, graph.committed_at as "committedAt",
             graph.parameters, graph.switches, graph.template_catalog as "templateCatalog", graph.project, graph.domain, graph.skip_cache as "skipCache", graph.branch, graph.priority,
             graph.priority_cap as "priorityCap", graph.top, graph.submitted_by as "submittedBy"
      from taken
      join job on job.graph_id = taken.graph_id and job.name = taken.job
      join definition on definition.digest = job.definition
      join graph on graph.id = taken.graph_id
      join repository on repository.name = graph.repository
    `,
  );
}

const FamilySize = z.object({ depth: z.number(), jobs: z.number() });

/**
 * Returns the depth of a graph below its root, which no job made, and the number of jobs in the root's whole set.
 *
 * Until the transaction ends, no other transaction adds a graph to the set.
 */
export async function sizeOfFamily(
  tx: Tx,
  graphId: GraphId,
  set: GraphId,
): Promise<z.infer<typeof FamilySize>> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${set}::text, 0))`);
  const [row] = await tx.many(
    FamilySize,
    sql`
      with recursive above as (
        select id, parent_id, parent_kind, 0 as depth from graph where id = ${graphId}
        union all
        select graph.id, graph.parent_id, graph.parent_kind, above.depth + 1
        from above join graph on graph.id = above.parent_id
        where above.parent_kind = 'subgraph' and above.depth < 100
      ),
      family as (
        (select id from above order by depth desc limit 1)
        union all
        select graph.id from family join graph on graph.parent_id = family.id
        where graph.parent_kind = 'subgraph'
      )
      select (select max(depth) from above) as depth,
             (select coalesce(sum(c.jobs::int), 0)
              from family join graph using (id), jsonb_each_text(graph.counts) as c (state, jobs)) as jobs
    `,
  );
  return row ?? { depth: 0, jobs: 0 };
}

const Ancestor = z.object({
  templateCatalog: z.string().nullable(),
  named: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()),
  switches: SwitchValues,
});

/** Returns the graphs that led to a graph, itself included. */
export function ancestorsOf(tx: Tx, graphId: GraphId): Promise<z.infer<typeof Ancestor>[]> {
  return tx.many(
    Ancestor,
    sql`
      with recursive above as (
        select id, parent_id, parent_kind, 0 as depth from graph where id = ${graphId}
        union all
        select graph.id, graph.parent_id, graph.parent_kind, above.depth + 1
        from above join graph on graph.id = above.parent_id
        where above.parent_kind = 'subgraph' and above.depth < 100
      )
      select graph.template_catalog as "templateCatalog", graph.named, graph.parameters, graph.switches
      from above join graph using (id)
    `,
  );
}

const One = z.object({ one: z.literal(1) });

/** Returns whether a run still waits for the planning of its graph. The parent is locked. */
export async function stillToPlan(tx: Tx, { graphId, job, run }: RunKey): Promise<boolean> {
  const rows = await tx.many(
    One,
    sql`
      select 1 as one from run
      where graph_id = ${graphId} and job = ${job} and number = ${run}
        and state = 'running' and served_by = 'farm' and due_at is not null
    `,
  );
  return rows.length > 0;
}

interface RunKey {
  readonly graphId: GraphId;
  readonly job: string;
  readonly run: number;
}

/** Notes which graph a run made; the run then waits for it. */
export async function keepChild(
  tx: Tx,
  { graphId, job, run }: RunKey,
  child: GraphId,
): Promise<void> {
  await tx.run(sql`
    insert into child_graph (child, graph_id, job, run) values (${child}, ${graphId}, ${job}, ${run})
  `);
  await tx.run(sql`
    update run set due_at = null where graph_id = ${graphId} and job = ${job} and number = ${run}
  `);
}

/** Postpones the planning of a run after a failure of the farm. */
export async function planLater(tx: Tx, { graphId, job, run }: RunKey, at: Date): Promise<void> {
  await tx.run(sql`
    update run set due_at = ${at}
    where graph_id = ${graphId} and job = ${job} and number = ${run}
      and state = 'running' and served_by = 'farm' and due_at is not null
  `);
}

const EndedChild = z.object({
  child: GraphId,
  graphId: GraphId,
  job: z.string(),
  run: z.number(),
  overVersion: z.number(),
});
export type EndedChild = z.infer<typeof EndedChild>;

/** Returns runs that still wait although their graphs have ended. */
export function endedChildren(tx: Tx, most: number): Promise<EndedChild[]> {
  return tx.many(
    EndedChild,
    sql`
      select child, graph_id as "graphId", job, run, over_version as "overVersion"
      from child_graph
      where over_version is not null and not settled
      order by graph_id
      limit ${most}
    `,
  );
}

const ChildState = z.object({
  child: GraphId,
  state: GraphState,
  /** Jobs that failed, the first few by name. */
  failed: z.array(z.string()),
  failures: z.number(),
});
export type ChildState = z.infer<typeof ChildState>;

export function statesOfChildren(tx: Tx, ids: readonly GraphId[]): Promise<ChildState[]> {
  return tx.many(
    ChildState,
    sql`
      select graph.id as child, graph.state,
             coalesce((graph.counts ->> 'failed')::int, 0) as failures,
             array(select name from job where graph_id = graph.id and state = 'failed'
                   order by name limit 5) as failed
      from graph where id = any(${ids}::uuid[])
    `,
  );
}

/** Notes that runs have learned of the ends of their graphs. */
export async function markSettled(tx: Tx, children: readonly GraphId[]): Promise<void> {
  await tx.run(sql`update child_graph set settled = true where child = any(${children}::uuid[])`);
}

/** Removes the mark of a graph that runs again, unless the mark is newer. */
export async function unmarkEnd(
  tx: Tx,
  { child, overVersion }: Pick<EndedChild, "child" | "overVersion">,
): Promise<void> {
  await tx.run(sql`
    update child_graph set over_version = null
    where child = ${child} and over_version = ${overVersion}
  `);
}

const Orphan = z.object({ child: GraphId });

/** Returns unfinished graphs whose run is over because it was cancelled. */
export async function orphanedChildren(tx: Tx): Promise<GraphId[]> {
  const rows = await tx.many(
    Orphan,
    sql`
      select child
      from child_graph
      join run on run.graph_id = child_graph.graph_id and run.job = child_graph.job
        and run.number = child_graph.run
      join graph on graph.id = child_graph.child
      where child_graph.over_version is null and not child_graph.settled
        and run.state = 'finished' and graph.state = 'running' and graph.cancel_asked_at is null
      limit 100
    `,
  );
  return rows.map((row) => row.child);
}

const MadeRow = z.object({ run: z.number(), graphId: z.string() });

/** The graphs that a job's runs made, the latest run first. */
export function graphsMadeBy(tx: Tx, graphId: GraphId, job: string): Promise<MadeGraph[]> {
  return tx.many(
    MadeRow,
    sql`
      select run, child as "graphId" from child_graph
      where graph_id = ${graphId} and job = ${job}
      order by run desc
      limit 200
    `,
  );
}
