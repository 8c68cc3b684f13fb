import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "./db.ts";
import { readRunningServers } from "./running-servers.store.ts";
import {
  type AppliedMigration,
  compareMigrations,
  type Migration,
  type MigrationState,
  neededBy,
  newestOf,
  serversThatWouldFail,
  worksWithIn,
} from "./server-compatibility.ts";
import { sql } from "./sql.ts";
import { setForTransaction, timeLimits } from "./time-limits.ts";

/** One lock for all servers that start at once; the number is arbitrary but used only here. */
const migrationLock = 7_240_911;

/** Tells running servers that a newer version has changed the schema. */
export const migrationChannel = "grange_migration";

/** Reads the migrations beside this file, or beside the bundle that contains it. */
export async function readMigrations(
  folder: URL = new URL("./migrations/", import.meta.url),
): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), "utf8");
      return { number: Number(name.slice(0, 4)), name, text, worksWith: worksWithIn(text) };
    }),
  );
}

/** The statement that creates the table of applied migrations, when it does not exist. */
export const migrationTable = `
  create table if not exists migration (
    number integer primary key,
    name text not null,
    applied_at timestamptz not null default now(),
    works_with integer
  )
`;

interface MigrateOptions {
  /** Those of this version, unless they are given. */
  readonly migrations?: readonly Migration[];
  /** How long to wait for servers that would fail after the migrations, in milliseconds. */
  readonly waitMs?: number;
  /** Called once when it starts to wait for such servers, with the reason. */
  readonly onWait?: (why: string) => void;
}

/** The time in which PostgreSQL notices that the machine of a server is gone is a minute; servers stop sooner. */
const defaultWaitMs = 30_000;
const lookEveryMs = 500;

/** How often a migration is tried when others hold the locks that it needs, such as maintenance: some 5 minutes. */
const mostTries = 60;

/**
 * Brings the database up to this version of the code, all steps in one transaction.
 *
 * Servers of other versions may run meanwhile. Each migration says with which servers it works (`-- works-with: N`).
 * Refused are a database after whose migrations this version would fail, and migrations after which a running server
 * would fail. Migrations go forward only; an older server goes on with a newer schema that works with it.
 *
 * @returns the names of the migrations that this version does not know
 * @throws Fault `failed_precondition` when it is refused
 */
export async function migrate(
  db: Db,
  { migrations, waitMs = defaultWaitMs, onWait = () => {} }: MigrateOptions = {},
): Promise<readonly string[]> {
  const known = migrations ?? (await readMigrations());
  const until = performance.now() + waitMs;
  let hasTold = false;
  for (let tries = 1; ; ) {
    const outcome = await migrateOnce(db, known).catch((reason: unknown) => {
      if (tries >= mostTries || !isContention(reason)) throw reason;
      return { kind: "contention" } as const;
    });
    switch (outcome.kind) {
      case "done":
        return outcome.ahead;
      case "contention":
        tries++;
        break;
      case "waiting":
        if (performance.now() >= until) throw new Fault("failed_precondition", outcome.why);
        if (!hasTold) onWait(outcome.why);
        hasTold = true;
    }
    await delay(lookEveryMs);
  }
}

type Outcome =
  | { readonly kind: "done"; readonly ahead: readonly string[] }
  /** A running server would fail after the migrations. */
  | { readonly kind: "waiting"; readonly why: string };

function migrateOnce(db: Db, known: readonly Migration[]): Promise<Outcome> {
  return db.transaction(async (tx) => {
    // Another server may take any time for its migrations. Waiting for table locks has a limit: while this transaction
    // waits for a table, all later transactions wait behind it.
    await tx.run(sql`select set_config('lock_timeout', '0', true)`);
    await tx.run(sql`select pg_advisory_xact_lock(${migrationLock})`);
    await tx.run(setForTransaction(timeLimits.migration));
    await tx.script(migrationTable);
    const applied = await appliedMigrations(tx);
    const state = compareMigrations(known, applied);
    const { missing, ahead } = state;
    refuseNewer(state, known);
    if (missing.length === 0) return { kind: "done", ahead };
    // An empty database has no servers.
    const failing =
      applied.length === 0
        ? undefined
        : serversThatWouldFail(missing, await readRunningServers(tx));
    if (failing !== undefined) return { kind: "waiting", why: explainWaiting(failing) };
    // Databases of earlier versions lack the column.
    await tx.script("alter table migration add column if not exists works_with integer");
    for (const { number, name, text, worksWith } of missing) {
      await tx.script(text);
      await tx.run(
        sql`insert into migration (number, name, works_with) values (${number}, ${name}, ${worksWith})`,
      );
    }
    await tx.run(sql`select pg_notify(${migrationChannel}, '')`);
    return { kind: "done", ahead };
  }, "migration");
}

function refuseNewer({ newer }: MigrationState, known: readonly Migration[]): void {
  if (newer === undefined) return;
  throw new Fault(
    "failed_precondition",
    `the data was written by a newer version of Grange (it has ${newer}; this version knows up to ${newestOf(known)}). ` +
      "Update Grange, or start with another data directory (GRANGE_DATA)",
  );
}

function explainWaiting({
  servers,
  migration,
}: NonNullable<ReturnType<typeof serversThatWouldFail>>): string {
  const names = servers.map(({ host, version }) => `version ${version} on ${host}`).join(", ");
  return (
    `the database is not changed, because running servers would fail after ${migration}: ${names}. ` +
    "Stop them, or update them first to a version between theirs and this one"
  );
}

/** Whether a transaction of another server was in the way: deadlock_detected, lock_not_available. */
function isContention(reason: unknown): boolean {
  const cause = reason instanceof Fault ? reason.cause : reason;
  return cause instanceof pg.DatabaseError && (cause.code === "40P01" || cause.code === "55P03");
}

/** Compares the migrations of a database, which may be empty, with those of this version. */
export async function migrationState(db: Db): Promise<
  MigrationState & {
    /** What a server of this version would wait for when it starts. */
    readonly blocked: string | undefined;
  }
> {
  const [table] = await db.many(
    z.object({ isThere: z.boolean() }),
    sql`select to_regclass('migration') is not null as "isThere"`,
  );
  const applied = table?.isThere === true ? await appliedMigrations(db) : [];
  const state = compareMigrations(await readMigrations(), applied);
  const failing =
    applied.length === 0
      ? undefined
      : serversThatWouldFail(state.missing, await readRunningServers(db));
  return { ...state, blocked: failing && explainWaiting(failing) };
}

/** The schema of a database that has been migrated, in numbers of migrations. */
export interface SchemaVersion {
  readonly newest: number;
  /** The newest migration that a server must know in order to work with this schema. */
  readonly needed: number;
}

export async function readSchemaVersion(tx: Tx): Promise<SchemaVersion> {
  const applied = await appliedMigrations(tx);
  return { newest: newestOf(applied), needed: Math.max(0, ...applied.map(neededBy)) };
}

/** Returns the number of the newest migration that this version knows. */
export async function newestKnownMigration(): Promise<number> {
  return newestOf(await readMigrations());
}

function appliedMigrations(tx: Tx): Promise<AppliedMigration[]> {
  return tx.many(
    z.object({ number: z.number(), name: z.string(), worksWith: z.number().nullable() }),
    // Through JSON, because databases of earlier versions lack the column.
    sql`
      select number, name, (to_jsonb(migration) ->> 'works_with')::integer as "worksWith"
      from migration
      order by number`,
  );
}
