import { z } from "zod";
import { auditOfJob } from "#access/audit.store.ts";
import { type JobOrigin, type Lineage } from "#api/job-origin.ts";
import { GraphState } from "#api/job-state.ts";
import { showableDefinition } from "#core/hide-secrets.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GraphId } from "../graph-id.ts";
import { definitionChanges } from "./definition-changes.ts";

const isoTime = z.date().transform((date) => date.toISOString());

const FormsRow = z.object({
  definition: z.json(),
  template: z.json().nullable(),
  patch: z.record(z.string(), z.json()).nullable(),
  revision: z.number(),
});

/**
 * Returns whether and how a job is customised, the graphs before and after its graph, and the actions of people on it.
 */
export async function jobOrigin(tx: Tx, graphId: GraphId, job: string): Promise<JobOrigin> {
  const [forms] = await tx.many(
    FormsRow,
    sql`
      select definition.body as definition, template.body as template, job.patch,
             job.definition_revision as revision
      from job
      join definition on definition.digest = job.definition
      left join definition as template on template.digest = job.template_definition
      where job.graph_id = ${graphId} and job.name = ${job}
    `,
  );
  const template = forms?.template ?? null;
  return {
    template: showableDefinition(template),
    patch: showableDefinition(forms?.patch ?? null),
    revision: forms?.revision ?? 0,
    changes:
      forms === undefined || template === null ? [] : definitionChanges(template, forms.definition),
    lineage: await lineageOf(tx, graphId),
    audit: await auditOfJob(tx, graphId, job),
  };
}

const ParentRow = z.object({
  id: z.string().nullable(),
  kind: z.string().nullable(),
  job: z.string().nullable(),
});
const ChildRow = z.object({
  id: z.string(),
  kind: z.string(),
  job: z.string().nullable(),
  state: GraphState,
  createdAt: isoTime,
});

async function lineageOf(tx: Tx, graphId: GraphId): Promise<Lineage> {
  const [parent] = await tx.many(
    ParentRow,
    sql`
      select parent_id as id, parent_kind as kind, parent_job as job from graph where id = ${graphId}
    `,
  );
  const children = await tx.many(
    ChildRow,
    sql`
      select id, parent_kind as kind, parent_job as job, state, created_at as "createdAt"
      from graph
      where parent_id = ${graphId}
      order by number
      limit 200
    `,
  );
  const { id = null, kind = null, job = null } = parent ?? {};
  return { parent: id === null || kind === null ? null : { id, kind, job }, children };
}
