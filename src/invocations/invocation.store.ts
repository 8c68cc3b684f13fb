import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { Asking } from "./asking.ts";

/** A sighting of an invocation. */
export interface Sighting
  extends Pick<
    Asking,
    "project" | "principal" | "invocation" | "correlatedId" | "toolName" | "toolVersion"
  > {
  readonly at: Date;
}

/**
 * Records sightings of invocations. Returns those that are cancelled.
 *
 * The first call determines the owner; missing details are added later. A call may contain each invocation at most
 * once.
 */
export async function noteInvocations(
  tx: Tx,
  sightings: readonly Sighting[],
): Promise<{ project: string; invocation: string }[]> {
  const rows = sightings.map(({ correlatedId, toolName, toolVersion, ...each }) => ({
    ...each,
    correlated_id: correlatedId,
    tool_name: toolName,
    tool_version: toolVersion,
  }));
  const noted = await tx.many(
    z.object({ project: z.string(), invocation: z.string(), isCancelled: z.boolean() }),
    sql`
      insert into invocation (
        project, id, correlated_id, principal, tool_name, tool_version, first_seen_at, last_seen_at)
      select project, invocation, correlated_id, principal, tool_name, tool_version, at, at
      from json_to_recordset(${JSON.stringify(rows)}::json) as seen (
        project text, invocation text, correlated_id text, principal text, tool_name text,
        tool_version text, at timestamptz)
      order by project, invocation
      on conflict (project, id) do update
      set last_seen_at = greatest(invocation.last_seen_at, excluded.last_seen_at),
          first_seen_at = least(invocation.first_seen_at, excluded.first_seen_at),
          correlated_id = coalesce(nullif(invocation.correlated_id, ''), excluded.correlated_id),
          tool_name = coalesce(nullif(invocation.tool_name, ''), excluded.tool_name),
          tool_version = coalesce(nullif(invocation.tool_version, ''), excluded.tool_version)
      returning project, id as invocation, cancelled_at is not null as "isCancelled"
    `,
  );
  return noted.filter(({ isCancelled }) => isCancelled);
}

/** The time at which the last connection of an invocation closed. */
export interface Departure extends Pick<Asking, "project" | "invocation"> {
  readonly at: Date;
}

/** Records that tools have left. A later sighting counts more. A call may contain each invocation at most once. */
export async function noteDepartures(tx: Tx, departures: readonly Departure[]): Promise<void> {
  await tx.run(sql`
    with gone as (
      select invocation.project, invocation.id, left_at.at
      from json_to_recordset(${JSON.stringify(departures)}::json) as left_at (
        project text, invocation text, at timestamptz)
      join invocation
        on invocation.project = left_at.project and invocation.id = left_at.invocation
      order by invocation.project, invocation.id
      for no key update of invocation
    )
    update invocation set left_at = greatest(invocation.left_at, gone.at)
    from gone where invocation.project = gone.project and invocation.id = gone.id
  `);
}

/**
 * Marks an invocation as cancelled; false when it does not exist. Keeps the name of the principal that cancelled it
 * first.
 */
export async function markInvocationCancelled(
  tx: Tx,
  { project, invocation }: Pick<Asking, "project" | "invocation">,
  by: string,
  now: Date,
): Promise<boolean> {
  const marked = await tx.run(sql`
    update invocation
    set cancelled_by = coalesce(cancelled_by, ${by}), cancelled_at = coalesce(cancelled_at, ${now})
    where project = ${project} and id = ${invocation}
  `);
  return marked > 0;
}

/**
 * Deletes invocations without a call since a time, with their operations and lookups, and operations without an
 * invocation.
 *
 * A limited number at a time, so that no transaction is long: call it until it returns 0.
 */
export async function deleteOldInvocations(tx: Tx, seen: Date, most = 50): Promise<number> {
  const ofNone = await tx.run(sql`
    delete from operation where id = any(array(
      select id from operation where invocation = '' and requested_at < ${seen}
      order by requested_at limit 1000))
  `);
  const invocations = await tx.run(sql`
    with old as (
      select project, id from invocation where last_seen_at < ${seen}
      order by last_seen_at limit ${most}
    ), operations as (
      delete from operation using old
      where operation.project = old.project and operation.invocation = old.id
    ), lookups as (
      delete from cache_lookup using old
      where cache_lookup.project = old.project and cache_lookup.invocation = old.id
    )
    delete from invocation using old
    where invocation.project = old.project and invocation.id = old.id
  `);
  return ofNone + invocations;
}
