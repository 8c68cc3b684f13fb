import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { keepPrincipal } from "./principal.store.ts";
import { PrincipalKind } from "./principal.ts";
import type { TokenFingerprint } from "./secret-token.ts";

const StoredToken = z.object({
  principal: z.string(),
  hash: z.instanceof(Uint8Array),
  expiresAt: z.date().nullable(),
  revokedAt: z.date().nullable(),
});
export type StoredToken = z.infer<typeof StoredToken>;

/** Looks up by the public part only; the caller compares the hash. */
export async function storedToken(tx: Tx, id: string): Promise<StoredToken | undefined> {
  const [row] = await tx.many(
    StoredToken,
    sql`
      select principal, hash, expires_at as "expiresAt", revoked_at as "revokedAt"
      from token where id = ${id}
    `,
  );
  return row;
}

interface NewToken {
  readonly principal: string;
  readonly fingerprint: TokenFingerprint;
  readonly createdBy: string;
  /** Undefined: until it is revoked. */
  readonly expiresAt: Date | undefined;
}

/** Stores a token's hash, and registers its principal. */
export async function insertToken(tx: Tx, token: NewToken, now: Date): Promise<void> {
  await keepPrincipal(tx, token.principal);
  await tx.run(sql`
    insert into token (id, principal, hash, created_at, created_by, expires_at)
    values (${token.fingerprint.id}, ${token.principal}, ${token.fingerprint.hash}, ${now},
      ${token.createdBy}, ${token.expiresAt ?? null})
  `);
}

const ListedToken = z.object({
  id: z.string(),
  principal: z.string(),
  kind: PrincipalKind,
  createdAt: z.date(),
  createdBy: z.string(),
  expiresAt: z.date().nullable(),
  revokedAt: z.date().nullable(),
  revokedBy: z.string().nullable(),
});
export type ListedToken = z.infer<typeof ListedToken>;

const listed = sql`
  token.id, principal, kind, token.created_at as "createdAt", created_by as "createdBy",
  expires_at as "expiresAt", revoked_at as "revokedAt", revoked_by as "revokedBy"
`;

export function listTokens(tx: Tx): Promise<ListedToken[]> {
  return tx.many(
    ListedToken,
    sql`
      select ${listed} from token join principal on principal.name = token.principal
      order by principal, token.created_at, token.id
    `,
  );
}

/** Marks a token as revoked. A token that was revoked before keeps the name of its first revoker. */
export async function markTokenRevoked(
  tx: Tx,
  id: string,
  by: string,
  now: Date,
): Promise<ListedToken | undefined> {
  const [row] = await tx.many(
    ListedToken,
    sql`
      update token
      set revoked_at = coalesce(revoked_at, ${now}), revoked_by = coalesce(revoked_by, ${by})
      from principal
      where token.id = ${id} and principal.name = token.principal
      returning ${listed}
    `,
  );
  return row;
}
