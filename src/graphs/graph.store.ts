import { z } from "zod";
import type { JobState } from "#api/job-state.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { runInParts } from "#db/run-in-parts.ts";
import { type Sql, sql } from "#db/sql.ts";
import type { Catalog } from "#definitions/catalog.ts";
import { parseDuration } from "#definitions/duration.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { preferIndexes } from "#execution/claiming/prefer-indexes.store.ts";
import { wakeRunners } from "./advancing/advance.store.ts";
import type { AdvancingJob, GraphPart } from "./advancing/graph-part.ts";
import { keepDefinitionsFromRemoval, takeCatalog } from "./catalog-use.store.ts";
import { lesserTtlMs } from "./expiry/graph-ttl.ts";
import type { GraphId } from "./graph-id.ts";
import { insertDefinitions, insertEntries } from "./insert-definitions.store.ts";
import type { OutsiderRules } from "./plan-for-outsiders.ts";
import type { SubmittedChoice } from "./submitted-choice.ts";

/** The initial state of a graph. */
interface NewGraph {
  readonly id: GraphId;
  readonly repository: string;
  readonly commit: string;
  readonly rev: string;
  readonly subject: string;
  readonly author: string;
  readonly committedAt: Date;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly domain: TrustDomain;
  readonly skipCache: boolean;
  readonly catalog: Catalog;
  /** The digest of the templates from which it was made; null without templates. */
  readonly templateCatalog?: string | null | undefined;
  /** Git's id of the directory of definitions, if they are the commit's own. */
  readonly definitionsTree?: string | null | undefined;
  /** The rules for definitions whose author may not write in the repository. */
  readonly outsiders?: OutsiderRules | null | undefined;
  readonly branch: string;
  readonly switches: Readonly<Record<string, unknown>>;
  /** Absent when unknown. */
  readonly choice?: SubmittedChoice | undefined;
  readonly priority: number;
  /** The highest priority that a job of it may reach; no cap when null or absent. */
  readonly priorityCap?: number | null;
  readonly top: boolean;
  /** How long each of its jobs may wait for its start; the jobs' own limits when absent. */
  readonly ttlMs?: number | undefined;
  readonly submittedBy: string;
  /** The graph whose set it joins; without it, it gets its own set. */
  readonly set?: GraphId | undefined;
  readonly parent?: GraphParent | undefined;
  /** The initial state of every job and edge. */
  readonly begun: GraphPart;
}

/** Where a graph comes from. */
export type GraphParent =
  | { readonly kind: "clone" | "backfill" | "bisect"; readonly id: GraphId }
  | { readonly kind: "subgraph"; readonly id: GraphId; readonly job: string };

/** Stores definitions under their names; they stay for at least a day. For known definitions this costs one query. */
export async function keepCatalog(tx: Tx, catalog: Catalog): Promise<void> {
  if (await takeCatalog(tx, catalog.digest, "jobs")) return;
  await keepDefinitionsFromRemoval(tx);
  const bodies = new Map(catalog.entries.map(({ digest, definition }) => [digest, definition]));
  // Sorted, so that two servers that keep the same definitions lock them in one order.
  const definitions = [...bodies]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([digest, body]) => ({ digest, body }));
  await insertDefinitions(tx, definitions);
  await tx.run(sql`insert into catalog (digest) values (${catalog.digest}) on conflict do nothing`);
  await insertEntries(tx, catalog.digest, catalog.entries);
}

/** Stores a graph with all its jobs and edges; returns false when one with this id exists. */
export async function insertGraph(tx: Tx, graph: NewGraph): Promise<boolean> {
  // The checks of 100 edges read 200 jobs. If the statement is planned while the table is empty, each check would read
  // all of them.
  await preferIndexes(tx);
  const counts: Partial<Record<JobState, number>> = {};
  for (const { state } of graph.begun.jobs) counts[state] = (counts[state] ?? 0) + 1;
  const inserted = await tx.run(sql`
    insert into graph (id, repository, commit, rev, subject, author, committed_at, catalog,
                       parameters, domain, skip_cache, counts, branch, switches, priority, priority_cap,
                       top, submitted_by, set_id, parent_id, parent_kind, parent_job, template_catalog,
                       named, selection, given, ttl_ms, definitions_tree, outsiders, project)
    values (${graph.id}, ${graph.repository}, ${graph.commit}, ${graph.rev}, ${graph.subject},
            ${graph.author}, ${graph.committedAt}, ${graph.catalog.digest},
            ${JSON.stringify(graph.parameters)}::jsonb, ${graph.domain}, ${graph.skipCache},
            ${JSON.stringify(counts)}::jsonb, ${graph.branch}, ${JSON.stringify(graph.switches)}::jsonb,
            ${graph.priority}, ${graph.priorityCap ?? null}, ${graph.top}, ${graph.submittedBy}, ${graph.set ?? graph.id},
            ${graph.parent?.id ?? null}, ${graph.parent?.kind ?? null},
            ${graph.parent?.kind === "subgraph" ? graph.parent.job : null}, ${graph.templateCatalog ?? null},
            ${graph.choice?.named ?? null}, ${graph.choice?.selection ?? null},
            ${graph.choice?.given ? JSON.stringify(graph.choice.given) : null}::jsonb, ${graph.ttlMs ?? null},
            ${graph.definitionsTree ?? null},
            ${graph.outsiders ? JSON.stringify(graph.outsiders) : null}::jsonb,
            (select project from repository where name = ${graph.repository}))
    on conflict (id) do nothing
  `);
  if (inserted === 0) return false;
  await insertJobs(tx, graph);
  await runInParts(
    tx,
    graph.begun.edges,
    edgesAtOnce,
    (part) => sql`
      insert into edge (graph_id, job, on_job, condition, status)
      select ${graph.id}, job, on_job, condition, status
      from unnest(${part.map((edge) => edge.job)}::text[],
                  ${part.map((edge) => edge.on)}::text[],
                  ${part.map((edge) => edge.condition)}::text[],
                  ${part.map((edge) => edge.status)}::text[])
        as e (job, on_job, condition, status)
    `,
  );
  await tx.run(sql`select pg_notify('grange_graph', ${graph.id})`);
  await wakeRunners(tx);
  return true;
}

async function insertJobs(tx: Tx, graph: NewGraph): Promise<void> {
  const entries = new Map(graph.catalog.entries.map((entry) => [entry.name, entry]));
  const rowOf = (job: AdvancingJob) => {
    const entry = entries.get(job.name);
    return {
      name: job.name,
      definition: entry?.digest,
      kind: job.kind,
      tags: entry?.definition.tags ?? {},
      depth: job.depth,
      priority: entry?.definition.priority ?? 0,
      ttl_ms: lesserTtlMs(parseDuration(entry?.definition.ttl ?? ""), graph.ttlMs),
      on_expiry: entry?.definition["on-expiry"] ?? "fail",
      coalesce_key: entry?.definition.coalesce?.key,
      coalesce_depth: entry?.definition.coalesce?.["min-depth"] ?? 1,
      coalesce_age_ms: parseDuration(entry?.definition.coalesce?.["min-age"] ?? "0s"),
      outside: entry?.definition.outside ?? false,
      finder: entry?.definition["inputs-from"]?.job,
      approximation: approximationAtFirst(graph, entry?.definition),
      set_aside: job.setAside,
      state: job.state,
      wanted: job.wanted,
      retries: entry?.definition.retries ?? 0,
      runs: job.runs,
      yield: job.yield,
      open_edges: job.openEdges,
      failed_edges: job.failedEdges,
      reason: job.reason,
    };
  };
  await runInParts(tx, graph.begun.jobs, jobsAtOnce, (part) => insertionOf(graph, part.map(rowOf)));
}

/** Small enough that serialising so many does not delay other requests. */
const jobsAtOnce = 1_000;
const edgesAtOnce = 4_000;

/** Returns the statement that inserts these jobs. */
function insertionOf(graph: NewGraph, rows: readonly object[]): Sql {
  return sql`
    insert into job (graph_id, name, definition, kind, tags, depth, priority, ttl_ms, on_expiry,
                     coalesce_key, coalesce_depth, coalesce_age_ms, outside, finder, approximation, set_aside, state, wanted, wanted_by, wanted_at, expires_at, retries, runs, yield,
                     open_edges, failed_edges, reason, ready_at, finished_at)
    select ${graph.id}, name, definition, kind, tags, depth, priority, ttl_ms, on_expiry,
           coalesce_key, coalesce_depth, coalesce_age_ms, outside, finder, approximation, set_aside, state, wanted, ${graph.submittedBy},
           case when wanted is not null then now() end,
           case when wanted is not null then now() + make_interval(secs => ttl_ms / 1000.0) end,
           retries, runs, yield, open_edges, failed_edges, reason,
           case when state = 'ready' then now() end,
           case when state = 'succeeded' then now() end
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as j (name text, definition text, kind text, tags jsonb, depth integer, priority integer,
            ttl_ms bigint, on_expiry text, coalesce_key text, coalesce_depth integer,
            coalesce_age_ms bigint, outside boolean, finder text, approximation text, set_aside text, state text, wanted text,
            retries integer, runs integer, yield text, open_edges integer, failed_edges integer, reason text)
  `;
}

/** A job that skips the cache must be executed; a job that is not an action has no result to look up. */
function approximationAtFirst({ skipCache }: NewGraph, definition: JobDefinition | undefined) {
  const isAction = (definition?.kind ?? "command") === "command" && !definition?.chunks;
  return definition?.["inputs-from"] && isAction && !skipCache ? "open" : null;
}

const DefinitionRow = z.object({
  body: z.custom<JobDefinition>((body) => typeof body === "object"),
});

/** The definition of a job; undefined when the graph has no such job. */
export async function definitionOfJob(
  tx: Tx,
  graphId: GraphId,
  job: string,
): Promise<JobDefinition | undefined> {
  const [row] = await tx.many(
    DefinitionRow,
    sql`
      select definition.body
      from job join definition on definition.digest = job.definition
      where job.graph_id = ${graphId} and job.name = ${job}
    `,
  );
  return row?.body;
}
