import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

/** The right to read one repository for a limited time, beside grants. Its lender renews it. */
interface LentRight {
  readonly principal: string;
  readonly repository: string;
  readonly lender: string;
}

export async function lendRight(
  tx: Tx,
  { principal, repository, lender }: LentRight,
  until: Date,
): Promise<void> {
  await tx.run(sql`
    insert into lent_right (principal, repository, lender, until)
    values (${principal}, ${repository}, ${lender}, ${until})
    on conflict (principal, repository, lender) do update set until = excluded.until
  `);
}

/** Ends the rights of a lender for a principal, a repository, or both. */
export async function endLentRights(
  tx: Tx,
  { principal, repository, lender }: Partial<LentRight> & Pick<LentRight, "lender">,
): Promise<void> {
  await tx.run(sql`
    delete from lent_right
    where lender = ${lender}
      and (${principal ?? null}::text is null or principal = ${principal ?? null})
      and (${repository ?? null}::text is null or repository = ${repository ?? null})
  `);
}
