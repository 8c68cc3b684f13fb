import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const BegunProject = z.object({ name: z.string(), begunBy: z.string(), begunAt: z.date() });
type BegunProject = z.infer<typeof BegunProject>;

/** Serialises the transactions in which one principal begins projects, on all servers. */
export async function lockBeginner(tx: Tx, principal: string): Promise<void> {
  await tx.run(sql`
    select pg_advisory_xact_lock(hashtext('begun_project'), hashtext(${principal}))
  `);
}

export async function isBegun(tx: Tx, name: string): Promise<boolean> {
  const rows = await tx.many(
    z.object({ name: z.string() }),
    sql`select name from begun_project where name = ${name}`,
  );
  return rows.length > 0;
}

export async function countBegunBy(tx: Tx, principal: string): Promise<number> {
  const [row] = await tx.many(
    z.object({ count: z.number() }),
    sql`select count(*) from begun_project where begun_by = ${principal}`,
  );
  return row?.count ?? 0;
}

/** Records who began a project. A project that was begun before keeps its entry. */
export async function addBegun(tx: Tx, { name, begunBy, begunAt }: BegunProject): Promise<void> {
  await tx.run(sql`
    insert into begun_project (name, begun_by, begun_at) values (${name}, ${begunBy}, ${begunAt})
    on conflict (name) do nothing
  `);
}

export function listBegun(tx: Tx): Promise<BegunProject[]> {
  return tx.many(
    BegunProject,
    sql`select name, begun_by as "begunBy", begun_at as "begunAt" from begun_project order by name`,
  );
}

export async function forgetBegun(tx: Tx, name: string): Promise<void> {
  await tx.run(sql`delete from begun_project where name = ${name}`);
}
