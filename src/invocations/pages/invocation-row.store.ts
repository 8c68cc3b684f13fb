import { z } from "zod";
import type { PlacePatterns } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { inPlaces } from "#db/in-places.ts";
import { type Sql, sql } from "#db/sql.ts";

/** The tool chooses an invocation's id, so the id is only unique within a project. */
export interface InvocationName {
  readonly project: string;
  readonly id: string;
}

const Row = z.object({
  project: z.string(),
  id: z.string(),
  correlatedId: z.string(),
  principal: z.string(),
  toolName: z.string(),
  toolVersion: z.string(),
  firstSeenAt: z.date(),
  lastSeenAt: z.date(),
  cancelledAt: z.date().nullable(),
  leftAt: z.date().nullable(),
});
export type InvocationRow = z.infer<typeof Row>;

const columns = sql`
  project, id, correlated_id as "correlatedId", principal, tool_name as "toolName",
  tool_version as "toolVersion", first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt",
  cancelled_at as "cancelledAt", left_at as "leftAt"
`;

export async function invocationRow(
  tx: Tx,
  { project, id }: InvocationName,
): Promise<InvocationRow | undefined> {
  const [row] = await tx.many(
    Row,
    sql`select ${columns} from invocation where project = ${project} and id = ${id}`,
  );
  return row;
}

/** Returns the known ones of the invocations, the newest first. */
export function invocationRows(tx: Tx, names: readonly InvocationName[]): Promise<InvocationRow[]> {
  return tx.many(
    Row,
    sql`
      select ${columns} from invocation
      where (project, id) in (
        select asked.project, asked.id from unnest(
          ${names.map(({ project }) => project)}::text[], ${names.map(({ id }) => id)}::text[]
        ) as asked (project, id))
      order by first_seen_at desc, id
    `,
  );
}

interface InvocationListing {
  readonly project: string | undefined;
  /** Continues after this invocation. */
  readonly before: InvocationName | undefined;
  readonly limit: number;
  /** Only invocations of projects among these places. */
  readonly places: PlacePatterns;
}

/** Returns invocations, the newest first. */
export function listInvocations(
  tx: Tx,
  { project, before, limit, places }: InvocationListing,
): Promise<InvocationRow[]> {
  const conditions: Sql[] = [inPlaces(places, sql`project`)];
  if (project !== undefined) conditions.push(sql`project = ${project}`);
  if (before !== undefined) {
    // Two parts, because one sort order is descending and the other ascending.
    const first = sql`(select first_seen_at from invocation where project = ${before.project} and id = ${before.id})`;
    conditions.push(
      sql`first_seen_at <= ${first} and (first_seen_at < ${first} or (id, project) > (${before.id}, ${before.project}))`,
    );
  }
  const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
  return tx.many(
    Row,
    sql`
      select ${columns} from invocation where ${where}
      order by first_seen_at desc, id, project limit ${limit}
    `,
  );
}
