import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** A principal, a project and a day in UTC (`2026-11-24`), under which written bytes are counted. */
export interface WrittenKey {
  readonly principal: string;
  readonly project: string;
  readonly day: string;
}

interface Written extends WrittenKey {
  /** Below 0 when more bytes were subtracted than added. */
  readonly bytes: number;
}

const Total = z.object({ n: z.number(), bytes: z.number() });

/** Adds bytes to the counts. Returns the new counts in the same order. Each key may occur only once. */
export async function addWritten(tx: Tx, all: readonly Written[]): Promise<number[]> {
  const principals = all.map((each) => each.principal);
  const projects = all.map((each) => each.project);
  const days = all.map((each) => each.day);
  const bytes = all.map((each) => each.bytes);
  const rows = await tx.many(
    Total,
    sql`
      with given as (
        select *
        from unnest(${principals}::text[], ${projects}::text[], ${days}::date[], ${bytes}::bigint[])
          with ordinality as given (principal, project, day, bytes, n)
      ),
      added as (
        insert into written_bytes as known (principal, project, day, bytes)
        select principal, project, day, bytes from given
        -- Two servers that add to the same rows lock them in one order.
        order by principal, project, day
        on conflict (principal, project, day) do update set bytes = known.bytes + excluded.bytes
        returning known.principal, known.project, known.day, known.bytes
      )
      select given.n, added.bytes
      from given join added using (principal, project, day)
    `,
  );
  const totals = new Map(rows.map((row) => [row.n, row.bytes]));
  return all.map((_, index) => totals.get(index + 1) ?? 0);
}

/** Deletes the days before the given one. */
export function forgetWritten(tx: Tx, day: string): Promise<number> {
  return tx.run(sql`delete from written_bytes where day < ${day}::date`);
}
