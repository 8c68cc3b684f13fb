import { z } from "zod";
import { EdgeCondition } from "#api/graph.ts";
import { SwitchValues } from "#api/graph-choice.ts";
import { TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { DefinitionDigest } from "#definitions/catalog.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { GraphId } from "../graph-id.ts";
import { OutsiderRules } from "../plan-for-outsiders.ts";
import { SubmittedChoice } from "../submitted-choice.ts";

const Definition = z.custom<JobDefinition>((body) => typeof body === "object");

const OriginalJob = z.object({
  name: z.string(),
  tags: z.record(z.string(), z.string()),
  isInactive: z.boolean(),
  template: Definition,
  templateDigest: DefinitionDigest,
  definition: Definition,
  digest: DefinitionDigest,
  patch: z.record(z.string(), z.json()).nullable(),
});
export type OriginalJob = z.infer<typeof OriginalJob>;

const OriginalRow = z.object({
  id: GraphId,
  set: GraphId,
  repository: z.string(),
  /** The address of the repository for fetching. */
  url: z.string(),
  rev: z.string(),
  commit: z.string(),
  subject: z.string(),
  author: z.string(),
  committedAt: z.date(),
  catalog: DefinitionDigest,
  parameters: z.record(z.string(), z.json()),
  switches: SwitchValues,
  templateCatalog: z.string().nullable(),
  definitionsTree: z.string().nullable(),
  outsiders: OutsiderRules.nullable(),
  choice: SubmittedChoice,
  /** How long each of its jobs may wait for its start. */
  ttlMs: z
    .number()
    .nullable()
    .transform((ms) => ms ?? undefined),
  domain: TrustDomain,
  skipCache: z.boolean(),
  branch: z.string(),
  priority: z.number(),
  top: z.boolean(),
});

const OriginalEdge = z.object({ job: z.string(), on: z.string(), condition: EdgeCondition });

/**
 * The parts of a graph that a clone can take over: definitions, edges, parameters, but no runs.
 *
 * Definitions are stored forever under their digests, so a graph of any age can be cloned.
 */
export interface OriginalGraph extends z.infer<typeof OriginalRow> {
  readonly jobs: readonly OriginalJob[];
  readonly edges: readonly z.infer<typeof OriginalEdge>[];
}

export async function originalGraph(tx: Tx, id: GraphId): Promise<OriginalGraph | undefined> {
  const [graph] = await tx.many(
    OriginalRow,
    sql`
      select graph.id, graph.set_id as set, graph.repository, repository.url, graph.rev, graph.commit,
             graph.subject, graph.author, graph.committed_at as "committedAt", graph.catalog,
             graph.parameters, graph.switches, graph.domain, graph.skip_cache as "skipCache",
             graph.branch, graph.priority, graph.top,
             graph.template_catalog as "templateCatalog", graph.definitions_tree as "definitionsTree",
             graph.outsiders, graph.ttl_ms as "ttlMs",
             jsonb_build_object('named', graph.named, 'selection', graph.selection, 'given', graph.given)
               as choice
      from graph join repository on repository.name = graph.repository
      where graph.id = ${id}
    `,
  );
  if (graph === undefined) return undefined;
  const jobs = await tx.many(
    OriginalJob,
    sql`
      select job.name, job.tags, coalesce(job.set_aside = 'inactive', false) as "isInactive", job.patch,
             template.body as template, template.digest as "templateDigest",
             definition.body as definition, definition.digest
      from job
      join definition on definition.digest = job.definition
      join definition as template on template.digest = coalesce(job.template_definition, job.definition)
      where job.graph_id = ${id}
      order by job.name
    `,
  );
  const edges = await tx.many(
    OriginalEdge,
    sql`select job, on_job as on, condition from edge where graph_id = ${id} order by job, on_job`,
  );
  return { ...graph, jobs, edges };
}
