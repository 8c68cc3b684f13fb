import { z } from "zod";
import { JobState } from "#api/job-state.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { CatalogEntry } from "#definitions/catalog.ts";
import { parseDuration } from "#definitions/duration.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { keepDefinitionsFromRemoval } from "../catalog-use.store.ts";
import type { GraphId } from "../graph-id.ts";
import type { JsonObject } from "./json-merge-patch.ts";

const Definition = z.custom<JobDefinition>((body) => typeof body === "object");

const CustomisableRow = z.object({
  state: JobState,
  runs: z.number(),
  isWanted: z.boolean(),
  /** The definition before any customisation. */
  template: Definition,
  templateDigest: z.string(),
  definition: Definition,
  patch: z.record(z.string(), z.json()).nullable(),
  /** How often its definition was changed in this graph. */
  revision: z.number(),
  repository: z.string(),
  branch: z.string(),
});
export type CustomisableJob = z.infer<typeof CustomisableRow>;

export async function customisableJob(
  tx: Tx,
  graphId: GraphId,
  name: string,
): Promise<CustomisableJob | undefined> {
  const [row] = await tx.many(
    CustomisableRow,
    sql`
      select job.state, job.runs, job.wanted is not null as "isWanted",
             template.body as template, template.digest as "templateDigest",
             definition.body as definition, job.patch,
             job.definition_revision as revision, graph.repository, graph.branch
      from job
      join graph on graph.id = job.graph_id
      join definition on definition.digest = job.definition
      join definition as template on template.digest = coalesce(job.template_definition, job.definition)
      where job.graph_id = ${graphId} and job.name = ${name}
    `,
  );
  return row;
}

const DependentRow = z.object({
  job: z.string(),
  /** The outputs that it uses by name. */
  takes: z.array(z.string()),
});

/** Returns jobs that use certain outputs of a job. */
export function dependentsOf(
  tx: Tx,
  graphId: GraphId,
  job: string,
): Promise<z.infer<typeof DependentRow>[]> {
  return tx.many(
    DependentRow,
    sql`
      select edge.job, definition.body -> 'needs' -> ${job}::text -> 'outputs' as takes
      from edge
      join job on job.graph_id = edge.graph_id and job.name = edge.job
      join definition on definition.digest = job.definition
      where edge.graph_id = ${graphId} and edge.on_job = ${job}
        and jsonb_typeof(definition.body -> 'needs' -> ${job}::text -> 'outputs') = 'array'
      order by edge.job
    `,
  );
}

export interface NewDefinition {
  readonly job: string;
  readonly templateDigest: string;
  /** Null undoes the change; `entry` is then the template. */
  readonly patch: JsonObject | null;
  readonly entry: Pick<CatalogEntry, "digest" | "definition">;
  /** Whether its ttl has changed. */
  readonly hasOtherTtl: boolean;
}

/**
 * Replaces the definitions of jobs. The graph is locked, or new; advance the jobs afterwards.
 *
 * If a server is preparing one of them now, it has the old definition; it then finds that the job is no longer assigned
 * to it.
 */
export async function setDefinitions(
  tx: Tx,
  graphId: GraphId,
  changes: readonly NewDefinition[],
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ job, templateDigest, patch, entry, hasOtherTtl }) => ({
    job,
    patch,
    template: patch === null ? null : templateDigest,
    digest: entry.digest,
    body: entry.definition,
    tags: entry.definition.tags ?? {},
    priority: entry.definition.priority ?? 0,
    retries: entry.definition.retries ?? 0,
    on_expiry: entry.definition["on-expiry"] ?? "fail",
    outside: entry.definition.outside ?? false,
    coalesce_key: entry.definition.coalesce?.key ?? null,
    coalesce_depth: entry.definition.coalesce?.["min-depth"] ?? 1,
    coalesce_age_ms: parseDuration(entry.definition.coalesce?.["min-age"] ?? "0s"),
    other_ttl: hasOtherTtl,
    ttl_ms: parseDuration(entry.definition.ttl ?? "") ?? null,
  }));
  await keepDefinitionsFromRemoval(tx);
  await tx.run(sql`
    insert into definition (digest, body)
    select distinct on (digest) digest, body
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as d (digest text, body jsonb)
    order by digest
    on conflict do nothing
  `);
  await tx.run(sql`
    update job
    set definition = d.digest, definition_revision = job.definition_revision + 1, template_definition = d.template,
        patch = case when d.template is null then null else d.patch end,
        tags = d.tags, priority = d.priority, on_expiry = d.on_expiry,
        -- What is used of a budget that becomes smaller is all of it.
        retries = d.retries, retries_used = least(job.retries_used, d.retries),
        outside = d.outside, coalesce_key = d.coalesce_key, coalesce_depth = d.coalesce_depth,
        coalesce_age_ms = d.coalesce_age_ms,
        -- least() passes over the null of no bound: the graph's own holds, whatever the job's becomes.
        ttl_ms = case when d.other_ttl then least(d.ttl_ms, graph.ttl_ms) else job.ttl_ms end,
        expires_at = case when d.other_ttl and job.expires_at is not null
          then job.wanted_at + make_interval(secs => least(d.ttl_ms, graph.ttl_ms) / 1000.0)
          else job.expires_at end,
        -- What it made, or will, may be by either definition: nothing is known ahead of it any more.
        approximation = null,
        preparing_epoch = job.preparing_epoch + 1, preparing_until = null
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as d (job text, patch jsonb, template text, digest text, tags jsonb, priority integer,
            retries integer, on_expiry text, outside boolean, coalesce_key text, coalesce_depth integer,
            coalesce_age_ms bigint, other_ttl boolean, ttl_ms bigint)
    join graph on graph.id = ${graphId}
    where job.graph_id = graph.id and job.name = d.job
  `);
  await tx.run(sql`
    update job set approximation = null
    where graph_id = ${graphId} and finder = any(${changes.map(({ job }) => job)}::text[])
      and approximation is not null
  `);
}
