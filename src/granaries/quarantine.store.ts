import { z } from "zod";
import { Divergence } from "#api/granary.ts";
import { ResultKey } from "#commit-index/result-key.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** Locks a project's quarantine: a result has several names, which callers would otherwise lock in different orders. */
export async function lockQuarantine(tx: Tx, project: string): Promise<void> {
  await tx.run(
    sql`select pg_advisory_xact_lock(hashtext('grange quarantine'), hashtext(${project}))`,
  );
}

interface NewQuarantine extends ResultKey {
  readonly project: string;
  readonly foundBy: string;
  readonly producer: string;
  readonly divergence: Divergence;
  /** The doubted result from which this one was made; absent for a result that is doubted itself. */
  readonly madeFrom?: ResultKey;
}

/** Records a result that differed when it was made again. A released one returns to quarantine. */
export async function addQuarantine(tx: Tx, found: NewQuarantine): Promise<void> {
  await tx.run(sql`
    insert into quarantined_result (project, namespace, key, found_by, producer, divergence,
      made_from_namespace, made_from_key)
    values (${found.project}, ${found.namespace}, ${found.key}, ${found.foundBy}, ${found.producer},
      ${JSON.stringify(found.divergence)}::jsonb, ${found.madeFrom?.namespace ?? ""}, ${found.madeFrom?.key ?? ""})
    on conflict (project, namespace, key) do update
    set found_at = now(),
        found_by = excluded.found_by,
        producer = excluded.producer,
        version = excluded.version,
        divergence = excluded.divergence,
        made_from_namespace = excluded.made_from_namespace,
        made_from_key = excluded.made_from_key,
        released_at = null,
        released_by = null
    where quarantined_result.released_at is not null
  `);
}

/** Returns those keys that are in quarantine. */
export function keysInQuarantine(
  tx: Tx,
  project: string,
  keys: readonly ResultKey[],
): Promise<ResultKey[]> {
  if (keys.length === 0) return Promise.resolve([]);
  return tx.many(
    ResultKey,
    sql`
      select namespace, key
      from quarantined_result
        join unnest(
          ${keys.map(({ namespace }) => namespace)}::text[], ${keys.map(({ key }) => key)}::text[]
        ) as asked (namespace, key) using (namespace, key)
      where project = ${project} and released_at is null
    `,
  );
}

const NewlyQuarantined = z
  .object({
    newest: z.number(),
    told: z.array(ResultKey.extend({ version: z.number() })),
  })
  .transform(({ newest, told }) => ({ newest, results: told }));

/**
 * Returns the first `most` results that were put into quarantine after a version and are still in it; and the project's
 * newest version.
 */
export async function quarantinedAfter(
  tx: Tx,
  project: string,
  version: number,
  most: number,
): Promise<z.output<typeof NewlyQuarantined>> {
  const [row] = await tx.many(
    NewlyQuarantined,
    sql`
      select (
          select coalesce(max(version), 0) from quarantined_result where project = ${project}
        ) as newest,
        (
          select coalesce(
            jsonb_agg(
              jsonb_build_object('namespace', namespace, 'key', key, 'version', version) order by version
            ),
            '[]'
          )
          from (
            select namespace, key, version
            from quarantined_result
            where project = ${project} and version > ${version} and released_at is null
            order by version
            limit ${most}
          ) as later
        ) as told
    `,
  );
  return row ?? { newest: 0, results: [] };
}

/** Releases a key; returns false when it was not in quarantine. */
export async function markReleased(
  tx: Tx,
  project: string,
  { namespace, key }: { readonly namespace: string; readonly key: string },
  by: string,
): Promise<boolean> {
  const released = await tx.run(sql`
    update quarantined_result
    set released_at = now(), released_by = ${by}
    where project = ${project} and namespace = ${namespace} and key = ${key} and released_at is null
  `);
  return released > 0;
}

/** Releases results that are in quarantine only because they were made from that result; returns them. */
export function releaseMadeFrom(
  tx: Tx,
  project: string,
  { namespace, key }: ResultKey,
  by: string,
): Promise<ResultKey[]> {
  return tx.many(
    ResultKey,
    sql`
      update quarantined_result
      set released_at = now(), released_by = ${by}
      where project = ${project} and made_from_namespace = ${namespace} and made_from_key = ${key}
        and made_from_key <> '' and released_at is null
      returning namespace, key
    `,
  );
}

/** Returns when a result was put into quarantine; undefined when it is not in quarantine. */
export async function foundAt(
  tx: Tx,
  project: string,
  { namespace, key }: ResultKey,
): Promise<Date | undefined> {
  const [row] = await tx.many(
    z.object({ found_at: z.date() }),
    sql`
      select found_at from quarantined_result
      where project = ${project} and namespace = ${namespace} and key = ${key} and released_at is null
    `,
  );
  return row?.found_at;
}

/** Counts the results that a principal has put into quarantine since, up to `most`. */
export async function countFoundBy(
  tx: Tx,
  project: string,
  foundBy: string,
  since: Date,
  most: number,
): Promise<number> {
  const [row] = await tx.many(
    z.object({ count: z.number() }),
    sql`
      select count(*)::integer as count
      from (
        select from quarantined_result
        where project = ${project} and found_at >= ${since} and found_by = ${foundBy} and made_from_key = ''
        limit ${most}
      ) as found
    `,
  );
  return row?.count ?? 0;
}

/** Counts a project's results in quarantine, up to 1,000. */
export async function countQuarantined(tx: Tx, project: string): Promise<number> {
  const [row] = await tx.many(
    z.object({ count: z.number() }),
    sql`
      select count(*)::integer as count
      from (
        select from quarantined_result where project = ${project} and released_at is null limit 1000
      ) as held
    `,
  );
  return row?.count ?? 0;
}

const Quarantined = z
  .object({
    project: z.string(),
    namespace: z.string(),
    key: z.string(),
    divergence: Divergence,
    producer: z.string(),
    found_at: z.date(),
    found_by: z.string(),
    released_at: z.date().nullable(),
    released_by: z.string().nullable(),
    also: z.number(),
  })
  .transform(({ found_at, found_by, released_at, released_by, also, ...row }) => ({
    ...row,
    alsoInQuarantine: also,
    foundAt: found_at.toISOString(),
    foundBy: found_by,
    releasedAt: released_at?.toISOString() ?? null,
    releasedBy: released_by,
  }));
export type Quarantined = z.infer<typeof Quarantined>;

/**
 * Returns doubted results, in quarantine or released since, the latest first; with the number of results made from each
 * that are in quarantine, too.
 */
export function quarantinedResults(tx: Tx, project: string, most: number): Promise<Quarantined[]> {
  return tx.many(
    Quarantined,
    sql`
      select project, namespace, key, divergence, producer, found_at, found_by, released_at, released_by,
        (
          select count(*)::integer
          from quarantined_result as made
          where made.project = doubted.project and made.made_from_namespace = doubted.namespace
            and made.made_from_key = doubted.key and made.made_from_key <> '' and made.released_at is null
        ) as also
      from quarantined_result as doubted
      where project = ${project} and made_from_key = ''
      order by found_at desc, namespace, key
      limit ${most}
    `,
  );
}
