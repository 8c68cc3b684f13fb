import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { PrincipalKind } from "./principal.ts";
import type { TokenFingerprint } from "./secret-token.ts";

const StoredEnrolment = z.object({
  principal: z.string(),
  hash: z.instanceof(Uint8Array),
  createdBy: z.string(),
  expiresAt: z.date(),
  tokenExpiresAt: z.date().nullable(),
  tokenId: z.string().nullable(),
  revokedAt: z.date().nullable(),
});
export type StoredEnrolment = z.infer<typeof StoredEnrolment>;

/**
 * Looks up by the public part only. The row is locked until the transaction ends, so that only one of two calls can be
 * first.
 */
export async function lockEnrolment(tx: Tx, id: string): Promise<StoredEnrolment | undefined> {
  const [row] = await tx.many(
    StoredEnrolment,
    sql`
      select principal, hash, created_by as "createdBy", expires_at as "expiresAt",
        token_expires_at as "tokenExpiresAt", token_id as "tokenId", revoked_at as "revokedAt"
      from enrolment where id = ${id} for update
    `,
  );
  return row;
}

interface NewEnrolment {
  readonly principal: string;
  readonly fingerprint: TokenFingerprint;
  readonly createdBy: string;
  readonly expiresAt: Date;
  /** The expiry of the token that the enrolment token is exchanged for; undefined: valid until it is revoked. */
  readonly tokenExpiresAt: Date | undefined;
}

export async function insertEnrolment(tx: Tx, each: NewEnrolment, now: Date): Promise<void> {
  await tx.run(sql`
    insert into enrolment (id, principal, hash, created_at, created_by, expires_at, token_expires_at)
    values (${each.fingerprint.id}, ${each.principal}, ${each.fingerprint.hash}, ${now},
      ${each.createdBy}, ${each.expiresAt}, ${each.tokenExpiresAt ?? null})
  `);
}

export async function markEnrolmentUsed(
  tx: Tx,
  id: string,
  tokenId: string,
  now: Date,
): Promise<void> {
  await tx.run(sql`update enrolment set used_at = ${now}, token_id = ${tokenId} where id = ${id}`);
}

const ListedEnrolment = z.object({
  id: z.string(),
  principal: z.string(),
  kind: PrincipalKind,
  createdAt: z.date(),
  createdBy: z.string(),
  expiresAt: z.date(),
  usedAt: z.date().nullable(),
  revokedAt: z.date().nullable(),
  revokedBy: z.string().nullable(),
});
export type ListedEnrolment = z.infer<typeof ListedEnrolment>;

const columns = sql`
  enrolment.id, principal, kind, enrolment.created_at as "createdAt", created_by as "createdBy",
  expires_at as "expiresAt", used_at as "usedAt", revoked_at as "revokedAt", revoked_by as "revokedBy"
`;

export function listEnrolments(tx: Tx): Promise<ListedEnrolment[]> {
  return tx.many(
    ListedEnrolment,
    sql`
      select ${columns} from enrolment join principal on principal.name = enrolment.principal
      order by principal, enrolment.created_at, enrolment.id
    `,
  );
}

/** Marks an unused enrolment token as revoked. A token that was revoked before keeps the name of its first revoker. */
export async function markEnrolmentRevoked(
  tx: Tx,
  id: string,
  by: string,
  now: Date,
): Promise<ListedEnrolment | undefined> {
  const [row] = await tx.many(
    ListedEnrolment,
    sql`
      update enrolment
      set revoked_at = coalesce(revoked_at, ${now}), revoked_by = coalesce(revoked_by, ${by})
      from principal
      where enrolment.id = ${id} and principal.name = enrolment.principal
      returning ${columns}
    `,
  );
  return row;
}
