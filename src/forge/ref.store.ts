import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { ForgeRef } from "./forge.ts";

const Ref = z.object({
  ref: z.string(),
  head: z.string(),
  workedHead: z.string().nullable(),
  problem: z.string().nullable(),
});
export type KnownRef = z.infer<typeof Ref>;

export function knownRefs(tx: Tx, repository: string): Promise<KnownRef[]> {
  return tx.many(
    Ref,
    sql`
      select ref, head, worked_head as "workedHead", problem from forge_ref
      where repository = ${repository} order by ref
    `,
  );
}

/** Returns the default branch, then the most recently moved refs. */
export function latestRefs(
  tx: Tx,
  repository: string,
  defaultBranch: string,
  most: number,
): Promise<KnownRef[]> {
  return tx.many(
    Ref,
    sql`
      select ref, head, worked_head as "workedHead", problem from forge_ref
      where repository = ${repository}
      order by ref = ${`refs/heads/${defaultBranch}`} desc, seen_at desc, ref limit ${most}
    `,
  );
}

/** Stores all current branches and tags, and deletes the others. `worked`: no graphs are made for their heads. */
export async function keepRefs(
  tx: Tx,
  repository: string,
  seen: readonly ForgeRef[],
  worked: readonly string[],
  now: Date,
): Promise<void> {
  const names = seen.map(({ ref }) => ref);
  await tx.run(sql`
    insert into forge_ref as known (repository, ref, head, seen_at, worked_head)
    select ${repository}, ref, head, ${now}, case when ref = any(${worked}::text[]) then head end
    from unnest(${names}::text[], ${seen.map(({ sha }) => sha)}::text[]) as s (ref, head)
    on conflict (repository, ref) do update
    set head = excluded.head, seen_at = excluded.seen_at,
        worked_head = coalesce(excluded.worked_head, known.worked_head),
        problem = case when known.head = excluded.head then known.problem end
    where known.head <> excluded.head
  `);
  await tx.run(sql`
    delete from forge_ref where repository = ${repository} and ref <> all(${names}::text[])
  `);
}

/** Records that everything was made for that head, or cannot be made: `problem` contains the reason. */
export async function settleRef(
  tx: Tx,
  repository: string,
  {
    ref,
    head,
    problem,
  }: { readonly ref: string; readonly head: string; readonly problem: string | null },
): Promise<void> {
  await tx.run(sql`
    update forge_ref set worked_head = ${head}, problem = ${problem}
    where repository = ${repository} and ref = ${ref} and head = ${head}
  `);
}
