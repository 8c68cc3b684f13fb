import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

export interface Subject {
  readonly hash: string;
  readonly graphId: string;
  readonly job: string;
  readonly run: number;
  readonly finishedAt: Date;
}

/** Returns the time up to which runs were read, and locks it against other readers; undefined before the first read. */
export async function lockMark(tx: Tx): Promise<Date | undefined> {
  await tx.run(sql`lock table provenance_mark in exclusive mode`);
  const [row] = await tx.many(
    z.object({ until: z.date() }),
    sql`select until from provenance_mark`,
  );
  return row?.until;
}

export async function setMark(tx: Tx, until: Date): Promise<void> {
  await tx.run(sql`
    insert into provenance_mark (until) values (${until})
    on conflict (only_one) do update set until = excluded.until
  `);
}

export async function addSubjects(tx: Tx, subjects: readonly Subject[]): Promise<void> {
  await tx.run(sql`
    insert into provenance_subject (hash, graph_id, job, run, finished_at)
    select * from unnest(
      ${subjects.map(({ hash }) => hash)}::text[], ${subjects.map(({ graphId }) => graphId)}::uuid[],
      ${subjects.map(({ job }) => job)}::text[], ${subjects.map(({ run }) => run)}::integer[],
      ${subjects.map(({ finishedAt }) => finishedAt.toISOString())}::timestamptz[])
    on conflict do nothing
  `);
}

const Named = z.object({ graphId: z.string(), job: z.string(), run: z.number() });

/** Returns the latest runs that made the output. */
export function runsThatMade(tx: Tx, hash: string, most: number): Promise<z.infer<typeof Named>[]> {
  return tx.many(
    Named,
    sql`
      select graph_id as "graphId", job, run from provenance_subject
      where hash = ${hash} order by finished_at desc limit ${most}
    `,
  );
}

/** Deletes the records of outputs of these graphs, because the graphs are being deleted. */
export async function forgetSubjectsOf(tx: Tx, graphs: readonly string[]): Promise<void> {
  await tx.run(sql`delete from provenance_subject where graph_id = any(${graphs}::uuid[])`);
}
