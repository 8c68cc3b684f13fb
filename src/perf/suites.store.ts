import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { Suite } from "#suites/suite.ts";

const StoredSuite = z.object({
  name: z.string(),
  digest: z.string(),
  definition: Suite,
  changedBy: z.string(),
  changedAt: z.date(),
  /** The time of the last query for new artifacts, and its problem. */
  lookedAt: z.date().nullable(),
  lookFailed: z.string().nullable(),
});
export type StoredSuite = z.infer<typeof StoredSuite>;

const columns = sql`
  name, digest, definition, changed_by as "changedBy", changed_at as "changedAt",
  looked_at as "lookedAt", look_failed as "lookFailed"
`;

export function allSuites(tx: Tx): Promise<StoredSuite[]> {
  return tx.many(StoredSuite, sql`select ${columns} from benchmark_suite order by name`);
}

export async function suiteNames(tx: Tx): Promise<string[]> {
  const rows = await tx.many(
    z.object({ name: z.string() }),
    sql`select name from benchmark_suite order by name`,
  );
  return rows.map(({ name }) => name);
}

export async function findSuite(tx: Tx, name: string): Promise<StoredSuite | undefined> {
  const [suite] = await tx.many(
    StoredSuite,
    sql`select ${columns} from benchmark_suite where name = ${name}`,
  );
  return suite;
}

/**
 * Locks a suite's row until the transaction ends: transactions that start, extend or end its requests are serialised.
 * Not `for update`, so that rows that refer to the suite can still be inserted.
 */
export async function lockSuite(tx: Tx, name: string): Promise<StoredSuite | undefined> {
  const [suite] = await tx.many(
    StoredSuite,
    sql`select ${columns} from benchmark_suite where name = ${name} for no key update`,
  );
  return suite;
}

/** Returns the definition of a suite when a job was made. */
export async function suiteByDigest(tx: Tx, digest: string): Promise<Suite | undefined> {
  const [version] = await tx.many(
    z.object({ definition: Suite }),
    sql`select definition from benchmark_suite_version where digest = ${digest}`,
  );
  return version?.definition;
}

/** Stores a definition; returns false when the suite already has the same one. */
export async function keepSuite(
  tx: Tx,
  suite: Suite,
  digest: string,
  by: string,
  now: Date,
): Promise<boolean> {
  const definition = JSON.stringify(suite);
  const changed = await tx.run(sql`
    insert into benchmark_suite as kept (name, digest, definition, changed_by, changed_at)
    values (${suite.suite}, ${digest}, ${definition}::jsonb, ${by}, ${now})
    on conflict (name) do update
    set digest = excluded.digest, definition = excluded.definition, changed_by = excluded.changed_by,
        changed_at = excluded.changed_at
    where kept.digest <> excluded.digest
  `);
  await tx.run(sql`
    insert into benchmark_suite_version (digest, suite, definition, stored_at)
    values (${digest}, ${suite.suite}, ${definition}::jsonb, ${now})
    on conflict do nothing
  `);
  return changed > 0;
}

/** Returns the number of known artifacts of each suite, and how many of them have a result. */
export function countArtifacts(tx: Tx) {
  return tx.many(
    z.object({ suite: z.string(), artifacts: z.number(), measured: z.number() }),
    // `exists` is one lookup in the primary key for each artifact; counting results would read them all.
    sql`
      select suite, count(*) as artifacts,
             count(*) filter (where exists (
               select from benchmark_measured where artifact_id = artifact.id)) as measured
      from benchmark_artifact as artifact
      group by suite
    `,
  );
}

/** Takes the right to query a suite's source; returns false when another server did so since `notSince`. */
export async function beginSuiteCheck(
  tx: Tx,
  name: string,
  now: Date,
  notSince: Date,
): Promise<boolean> {
  const begun = await tx.run(sql`
    update benchmark_suite set looked_at = ${now}
    where name = ${name} and (looked_at is null or looked_at <= ${notSince})
  `);
  return begun > 0;
}

export async function endSuiteCheck(tx: Tx, name: string, failed: string | null): Promise<void> {
  await tx.run(sql`update benchmark_suite set look_failed = ${failed} where name = ${name}`);
}
