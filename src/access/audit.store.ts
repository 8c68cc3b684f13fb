import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** A recorded change: who made it and why. */
export interface AuditEntry {
  /** A principal's name. */
  readonly actor: string;
  /** The same verbs as in grants: `retrigger`, `waive`, `customise` … */
  readonly verb: string;
  readonly graphId?: string | undefined;
  readonly job?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  /** In their own words. */
  readonly reason?: string | undefined;
}

/** Records an action in the transaction that carries it out, so that both are committed or neither is. */
export async function recordAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  await tx.run(sql`
    insert into audit_entry (actor, verb, graph_id, job, detail, reason)
    values (${entry.actor}, ${entry.verb}, ${entry.graphId ?? null}, ${entry.job ?? null},
            ${JSON.stringify(entry.detail ?? {})}::jsonb, ${entry.reason ?? null})
  `);
}

/**
 * Returns the jobs of a graph that an action with a single-use name changed; undefined when the action was not done.
 */
export async function jobsDoneOnce(
  tx: Tx,
  graphId: string,
  once: string,
): Promise<string[] | undefined> {
  const [done] = await tx.many(
    z.object({ jobs: z.array(z.string()) }),
    sql`
      select detail -> 'jobs' as jobs from audit_entry
      where graph_id = ${graphId} and detail ->> 'once' = ${once}
    `,
  );
  return done?.jobs;
}

const AuditRow = z.object({
  seq: z.number(),
  at: z.date().transform((date) => date.toISOString()),
  actor: z.string(),
  verb: z.string(),
  job: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
  reason: z.string().nullable(),
});
type AuditRow = z.infer<typeof AuditRow>;

const AuditLogRow = AuditRow.extend({ graph: z.string().nullable() });
type AuditLogRow = z.infer<typeof AuditLogRow>;

/** Returns the changes to the whole farm, the latest first. */
export function auditLog(
  tx: Tx,
  wanted: {
    readonly before: number | undefined;
    readonly actor: string | undefined;
    readonly verb: string | undefined;
    readonly since: Date | undefined;
    readonly most: number;
  },
): Promise<AuditLogRow[]> {
  const { before = null, actor = null, verb = null, since = null, most } = wanted;
  return tx.many(
    AuditLogRow,
    sql`
      select seq, at, actor, verb, job, detail, reason, graph_id::text as graph
      from audit_entry
      where (${before}::bigint is null or seq < ${before}::bigint)
        and (${actor}::text is null or actor = ${actor}::text)
        and (${verb}::text is null or verb = ${verb}::text)
        and (${since}::timestamptz is null or at >= ${since}::timestamptz)
      order by seq desc
      limit ${most}
    `,
  );
}

/** Returns the changes to a graph, the latest first. */
export function auditOfGraph(tx: Tx, graphId: string, most = 200): Promise<AuditRow[]> {
  return tx.many(
    AuditRow,
    sql`
      select seq, at, actor, verb, job, detail, reason
      from audit_entry
      where graph_id = ${graphId}
      order by seq desc
      limit ${most}
    `,
  );
}

/** Returns the changes to a job, or to all of its graph, the latest first. */
export function auditOfJob(tx: Tx, graphId: string, job: string): Promise<AuditRow[]> {
  return tx.many(
    AuditRow,
    sql`
      select seq, at, actor, verb, job, detail, reason
      from audit_entry
      where graph_id = ${graphId}
        and (job = ${job} or (job is null and (not detail ? 'jobs' or detail -> 'jobs' ? ${job})))
      order by seq desc
      limit 100
    `,
  );
}

/** Returns the latest change of one kind to a job; undefined when there is none. */
export async function latestChangeOfJob(
  tx: Tx,
  graphId: string,
  job: string,
  verb: string,
): Promise<AuditRow | undefined> {
  const [row] = await tx.many(
    AuditRow,
    sql`
      select seq, at, actor, verb, job, detail, reason
      from audit_entry
      where graph_id = ${graphId} and job = ${job} and verb = ${verb}
      order by seq desc
      limit 1
    `,
  );
  return row;
}

/** Deletes entries from before a time, a limited number per call: repeat the call until it returns 0. */
export function deleteOldAudit(tx: Tx, before: Date, most = 1_000): Promise<number> {
  return tx.run(sql`
    delete from audit_entry
    where seq = any(array(select seq from audit_entry where at < ${before} order by at limit ${most}))
  `);
}
