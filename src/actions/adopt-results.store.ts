import { z } from "zod";
import { protectedDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { SealedRow, sealedColumns, sealedStatementOf } from "./action-result.store.ts";
import type { ResultStatement, Seal } from "./result-seals.ts";

/** An arbitrary number; the same for all servers of a database. */
const adoptionLock = 4_027_029;

const Adoption = z.object({
  before: z.string(),
  isDone: z.boolean(),
  hasSigned: z.boolean(),
  keyId: z.string().nullable(),
});

/**
 * Locks and returns the state of the adoption of results from before the farm signed; waits for another server that
 * adopts them.
 *
 * Times are text, because PostgreSQL's are finer than JavaScript's.
 */
export async function lockAdoption(tx: Tx): Promise<z.infer<typeof Adoption> | undefined> {
  await tx.run(sql`select pg_advisory_xact_lock(${adoptionLock})`);
  const [row] = await tx.many(
    Adoption,
    sql`
      select before::text, done_at is not null as "isDone", key_id as "keyId",
        exists (select from action_result where key_id is not null and not adopted) as "hasSigned"
      from result_adoption
    `,
  );
  return row;
}

/** Returns unsigned results in the order of their names, starting behind `after`. */
export async function unsignedResults(
  tx: Tx,
  before: string,
  after: { readonly project: string; readonly action: string },
  most: number,
): Promise<ResultStatement[]> {
  const rows = await tx.many(
    SealedRow,
    sql`
      select ${sealedColumns} from action_result
      where domain = ${protectedDomain} and key_id is null and not quarantined
        and created_at <= ${before}::timestamptz
        and (project, action_digest) > (${after.project}, ${after.action})
      order by project, action_digest
      limit ${most}
    `,
  );
  return rows.map(sealedStatementOf);
}

/** Stores signatures of results that are unchanged since they were read, and marks these results as adopted. */
export async function saveAdopted(
  tx: Tx,
  adopted: readonly { readonly statement: ResultStatement; readonly seal: Seal }[],
): Promise<void> {
  await tx.run(sql`
    update action_result
    set key_id = sealed.key_id, signature = decode(sealed.signature, 'base64'), adopted = true
    from unnest(
      ${adopted.map(({ statement }) => statement.project)}::text[],
      ${adopted.map(({ statement }) => statement.action)}::text[],
      ${adopted.map(({ seal }) => seal.keyId)}::text[],
      ${adopted.map(({ seal }) => Buffer.from(seal.signature).toString("base64"))}::text[]
    ) as sealed (project, action_digest, key_id, signature)
    where action_result.project = sealed.project and action_result.domain = ${protectedDomain}
      and action_result.action_digest = sealed.action_digest and action_result.key_id is null
  `);
}

export async function endAdoption(
  tx: Tx,
  keyId: string,
  results: number,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update result_adoption set done_at = ${now}, key_id = ${keyId}, results = ${results}
  `);
}
