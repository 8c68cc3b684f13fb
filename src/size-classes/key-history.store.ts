import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { levelOf } from "./key.ts";
import type { KeyHistory } from "./key-history.ts";
import { historySize, PastRun } from "./past-run.ts";

/** The identity of a history: a project, a trust domain and a key. */
export interface KeyName {
  readonly project: string;
  readonly domain: string;
  readonly key: string;
}

/** A value of another version that this version cannot read is left out; the others count. */
const bySizeClass = <Value>(read: (kept: unknown) => Value | undefined) =>
  z.unknown().transform((kept): ReadonlyMap<number, Value> => {
    const record = typeof kept === "object" && kept !== null ? Object.entries(kept) : [];
    return new Map(
      record.flatMap(([name, value]) => {
        const sizeClass = Number(name);
        const found = read(value);
        return Number.isInteger(sizeClass) && found !== undefined ? [[sizeClass, found]] : [];
      }),
    );
  });

function runsIn(kept: unknown): readonly PastRun[] | undefined {
  if (!Array.isArray(kept)) return undefined;
  const runs = kept.flatMap((each) => PastRun.safeParse(each).data ?? []);
  return runs.length === 0 ? undefined : runs.slice(-historySize);
}

const Row = z.object({
  project: z.string(),
  domain: z.string(),
  key: z.string(),
  title: z.string(),
  lastFailureAt: z.date().nullable(),
  failuresInARow: z.number(),
  pageRank: bySizeClass((kept) => (typeof kept === "number" ? kept : undefined)),
  runs: bySizeClass(runsIn),
});

/** Returns the histories of keys, by `nameOf`; keys without runs are left out. One statement, which locks nothing. */
export async function readHistories(
  tx: Tx,
  keys: readonly KeyName[],
): Promise<ReadonlyMap<string, KeyHistory>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.many(
    Row,
    sql`
      select project, domain, key, title, last_failure_at as "lastFailureAt",
        failures_in_a_row as "failuresInARow", page_rank as "pageRank",
        (select json_object_agg(size_class, runs) from size_class_history as history
         where history.project = known.project and history.domain = known.domain
           and history.key = known.key) as runs
      from size_class_key as known
      join unnest(
        ${keys.map(({ project }) => project)}::text[], ${keys.map(({ domain }) => domain)}::text[],
        ${keys.map(({ key }) => key)}::text[]
      ) as asked (project, domain, key) using (project, domain, key)
    `,
  );
  return new Map(
    rows.map((row) => [
      nameOf(row),
      {
        key: row.key,
        level: levelOf(row.key),
        runs: row.runs,
        lastFailureAt: row.lastFailureAt?.getTime(),
        failuresInARow: row.failuresInARow,
        pageRank: row.pageRank,
      },
    ]),
  );
}

export function nameOf({ project, domain, key }: KeyName): string {
  return JSON.stringify([project, domain, key]);
}

/** The new state of a key's history. */
export interface HistoryUpdate extends KeyName {
  readonly title: string;
  readonly history: KeyHistory;
  /** The classes on which there are new runs. */
  readonly changed: readonly number[];
  readonly seenAt: Date;
}

/** Writes histories. Only the learner does this, and only one runs at a time. */
export async function writeHistories(tx: Tx, written: readonly HistoryUpdate[]): Promise<void> {
  if (written.length === 0) return;
  const keys = written.map(({ project, domain, key, title, history, seenAt }) => ({
    project,
    domain,
    key,
    title,
    last_failure_at:
      history.lastFailureAt === undefined ? undefined : new Date(history.lastFailureAt),
    failures_in_a_row: history.failuresInARow,
    page_rank: history.pageRank.size === 0 ? undefined : Object.fromEntries(history.pageRank),
    seen_at: seenAt,
  }));
  await tx.run(sql`
    insert into size_class_key as known (
      project, domain, key, title, last_failure_at, failures_in_a_row, page_rank, last_seen_at)
    select project, domain, key, title, last_failure_at, failures_in_a_row, page_rank, seen_at
    from json_to_recordset(${JSON.stringify(keys)}::json) as written (
      project text, domain text, key text, title text, last_failure_at timestamptz,
      failures_in_a_row integer, page_rank jsonb, seen_at timestamptz)
    order by project, domain, key
    on conflict (project, domain, key) do update
    set title = excluded.title, last_failure_at = excluded.last_failure_at,
        failures_in_a_row = excluded.failures_in_a_row, page_rank = excluded.page_rank,
        last_seen_at = greatest(known.last_seen_at, excluded.last_seen_at)
  `);
  const runs = written.flatMap(({ project, domain, key, history, changed, seenAt }) =>
    changed.map((sizeClass) => ({
      project,
      domain,
      key,
      size_class: sizeClass,
      runs: history.runs.get(sizeClass) ?? [],
      last_run_at: seenAt,
    })),
  );
  await tx.run(sql`
    insert into size_class_history (project, domain, key, size_class, runs, last_run_at)
    select project, domain, key, size_class, runs, last_run_at
    from json_to_recordset(${JSON.stringify(runs)}::json) as written (
      project text, domain text, key text, size_class integer, runs jsonb, last_run_at timestamptz)
    order by project, domain, key, size_class
    on conflict (project, domain, key, size_class) do update
    set runs = excluded.runs, last_run_at = excluded.last_run_at
  `);
}

/** Deletes keys without runs since a time. */
export async function deleteOldHistories(tx: Tx, seenBefore: Date): Promise<number> {
  await tx.run(sql`
    delete from size_class_history as old using size_class_key as known
    where known.project = old.project and known.domain = old.domain and known.key = old.key
      and known.last_seen_at < ${seenBefore}
  `);
  return tx.run(sql`delete from size_class_key where last_seen_at < ${seenBefore}`);
}
