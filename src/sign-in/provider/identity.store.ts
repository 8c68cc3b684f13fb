import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";

const Identity = z.object({
  issuer: z.string(),
  subject: z.string(),
  principal: z.string(),
  firstSeenAt: z.date(),
  lastSeenAt: z.date(),
});
type Identity = z.infer<typeof Identity>;

const columns = sql`
  issuer, subject, principal, first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt"
`;

/** Records that a subject signed in; returns undefined at its first sign-in. */
export async function recordIdentitySignIn(
  tx: Tx,
  issuer: string,
  subject: string,
  now: Date,
): Promise<Identity | undefined> {
  const [row] = await tx.many(
    Identity,
    sql`
      update identity set last_seen_at = ${now} where issuer = ${issuer} and subject = ${subject}
      returning ${columns}
    `,
  );
  return row;
}

/** Assigns a name to a subject permanently. Returns false when the name or the subject is taken. */
export async function insertIdentity(
  tx: Tx,
  { issuer, subject, principal }: Pick<Identity, "issuer" | "subject" | "principal">,
  now: Date,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into identity (issuer, subject, principal, first_seen_at, last_seen_at)
    values (${issuer}, ${subject}, ${principal}, ${now}, ${now}) on conflict do nothing
  `);
  return inserted > 0;
}

export function listIdentities(tx: Tx): Promise<Identity[]> {
  return tx.many(Identity, sql`select ${columns} from identity order by principal`);
}

/** Releases a name, so that another subject may take it. */
export async function deleteIdentity(tx: Tx, principal: string): Promise<boolean> {
  return (await tx.run(sql`delete from identity where principal = ${principal}`)) > 0;
}
