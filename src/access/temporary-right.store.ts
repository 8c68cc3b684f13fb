import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The right to read one repository for a limited time, in addition to grants. Its source renews it. */
interface TemporaryRight {
  readonly principal: string;
  readonly repository: string;
  readonly source: string;
}

export async function giveTemporaryRight(
  tx: Tx,
  { principal, repository, source }: TemporaryRight,
  until: Date,
): Promise<void> {
  await tx.run(sql`
    insert into temporary_right (principal, repository, source, until)
    values (${principal}, ${repository}, ${source}, ${until})
    on conflict (principal, repository, source) do update set until = excluded.until
  `);
}

/** Ends the rights from a source for a principal, a repository, or both. */
export async function endTemporaryRights(
  tx: Tx,
  { principal, repository, source }: Partial<TemporaryRight> & Pick<TemporaryRight, "source">,
): Promise<void> {
  await tx.run(sql`
    delete from temporary_right
    where source = ${source}
      and (${principal ?? null}::text is null or principal = ${principal ?? null})
      and (${repository ?? null}::text is null or repository = ${repository ?? null})
  `);
}
