import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const TrustedIssuer = z.object({
  name: z.string(),
  url: z.string(),
  audience: z.string(),
  subject: z.string(),
  principal: z.string(),
  createdAt: z.date(),
  createdBy: z.string(),
});
/** One rule: tokens with this issuer, audience and subject identify this principal. */
export type TrustedIssuer = z.infer<typeof TrustedIssuer>;

const columns = sql`
  name, url, audience, subject, principal, created_at as "createdAt", created_by as "createdBy"
`;

/** Returns false when the name is taken. The principal must be known. */
export async function insertIssuer(
  tx: Tx,
  issuer: Omit<TrustedIssuer, "createdAt" | "createdBy">,
  by: string,
  now: Date,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into trusted_issuer (name, url, audience, subject, principal, created_at, created_by)
    values (${issuer.name}, ${issuer.url}, ${issuer.audience}, ${issuer.subject},
      ${issuer.principal}, ${now}, ${by})
    on conflict do nothing
  `);
  return inserted > 0;
}

export function listIssuers(tx: Tx): Promise<TrustedIssuer[]> {
  return tx.many(TrustedIssuer, sql`select ${columns} from trusted_issuer order by name`);
}

/** Returns the rules for an issuer, by its exact address. */
export function issuersAt(tx: Tx, url: string): Promise<TrustedIssuer[]> {
  return tx.many(
    TrustedIssuer,
    sql`select ${columns} from trusted_issuer where url = ${url} order by name`,
  );
}

export async function deleteIssuer(tx: Tx, name: string): Promise<boolean> {
  return (await tx.run(sql`delete from trusted_issuer where name = ${name}`)) > 0;
}
