import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { KeyName } from "../key-history.store.ts";
import { PastRun } from "../past-run.ts";

const KnownKey = z.object({
  project: z.string(),
  domain: z.string(),
  key: z.string(),
  title: z.string(),
  lastSeenAt: z.date(),
});
/** A key with stored data. */
export type KnownKey = z.infer<typeof KnownKey>;

/** Returns those of the keys that are known, without an order. */
export function knownKeys(tx: Tx, keys: readonly KeyName[]): Promise<KnownKey[]> {
  return tx.many(
    KnownKey,
    sql`
      select project, domain, key, title, last_seen_at as "lastSeenAt"
      from size_class_key
      join unnest(
        ${keys.map(({ project }) => project)}::text[], ${keys.map(({ domain }) => domain)}::text[],
        ${keys.map(({ key }) => key)}::text[]
      ) as asked (project, domain, key) using (project, domain, key)
    `,
  );
}

/** Returns keys whose title or name contains a text, the most recent first. */
export function keysWithText(tx: Tx, text: string, most: number): Promise<KnownKey[]> {
  return tx.many(
    KnownKey,
    sql`
      select project, domain, key, title, last_seen_at as "lastSeenAt"
      from size_class_key
      where strpos(lower(title), lower(${text})) > 0 or starts_with(key, ${text})
      order by last_seen_at desc
      limit ${most}
    `,
  );
}

/**
 * Returns the keys of a project, and optionally of a domain, with that name; several domains may have it. The latest
 * first.
 */
export function keysNamed(
  tx: Tx,
  {
    project,
    domain,
    key,
  }: { readonly project: string; readonly domain: string | undefined; readonly key: string },
): Promise<KnownKey[]> {
  return tx.many(
    KnownKey,
    sql`
      select project, domain, key, title, last_seen_at as "lastSeenAt"
      from size_class_key
      where project = ${project} and key = ${key}
        and (${domain ?? null}::text is null or domain = ${domain ?? null})
      order by last_seen_at desc
      limit 1
    `,
  );
}

const KeyRuns = z.object({ sizeClass: z.number(), runs: z.array(PastRun) });

/** Returns the results of a key's executions by class, and the facts that do not depend on the class. */
export async function remembered(tx: Tx, { project, domain, key }: KeyName, mostClasses: number) {
  const [facts] = await tx.many(
    z.object({ lastFailureAt: z.date().nullable(), failuresInARow: z.number() }),
    sql`
      select last_failure_at as "lastFailureAt", failures_in_a_row as "failuresInARow"
      from size_class_key where project = ${project} and domain = ${domain} and key = ${key}
    `,
  );
  const classes = await tx.many(
    KeyRuns,
    sql`
      select size_class as "sizeClass", runs from size_class_history
      where project = ${project} and domain = ${domain} and key = ${key}
      order by size_class limit ${mostClasses}
    `,
  );
  return { lastFailureAt: null, failuresInARow: 0, ...facts, classes };
}
