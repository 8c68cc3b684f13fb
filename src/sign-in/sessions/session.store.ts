import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { SecretFingerprint } from "./browser-secret.ts";

const StoredSession = z.object({
  id: z.string(),
  hash: z.instanceof(Uint8Array),
  principal: z.string(),
  groups: z.array(z.string()),
  tokenId: z.string().nullable(),
  issuer: z.string().nullable(),
  createdAt: z.date(),
  seenAt: z.date(),
  endsAt: z.date(),
  endedAt: z.date().nullable(),
});
export type StoredSession = z.infer<typeof StoredSession>;

const columns = sql`
  id, hash, principal, groups, token_id as "tokenId", issuer, created_at as "createdAt",
  seen_at as "seenAt", ends_at as "endsAt", ended_at as "endedAt"
`;

/** The token or identity on which a session is based. */
export type SessionBasis =
  | { readonly kind: "token"; readonly tokenId: string }
  | { readonly kind: "provider"; readonly issuer: string; readonly subject: string };

interface NewSession {
  readonly fingerprint: SecretFingerprint;
  readonly principal: string;
  readonly groups: readonly string[];
  readonly voucher: SessionBasis;
  readonly endsAt: Date;
}

/** The principal must be known. */
export async function insertSession(tx: Tx, session: NewSession, now: Date): Promise<void> {
  const { fingerprint, voucher } = session;
  const byProvider = voucher.kind === "provider" ? voucher : undefined;
  await tx.run(sql`
    insert into session (id, hash, principal, groups, token_id, issuer, subject, created_at, seen_at, ends_at)
    values (${fingerprint.id}, ${fingerprint.hash}, ${session.principal}, ${session.groups},
      ${voucher.kind === "token" ? voucher.tokenId : null}, ${byProvider?.issuer ?? null},
      ${byProvider?.subject ?? null}, ${now}, ${now}, ${session.endsAt})
  `);
}

/** Looks up by the public part only; the caller compares the hash. */
export async function storedSession(tx: Tx, id: string): Promise<StoredSession | undefined> {
  const [row] = await tx.many(StoredSession, sql`select ${columns} from session where id = ${id}`);
  return row;
}

/** Updates the time of the last use, if the stored one is more than a minute old. */
export async function touchSession(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.run(sql`
    update session set seen_at = ${now}
    where id = ${id} and ended_at is null and seen_at < ${now}::timestamptz - interval '1 minute'
  `);
}

/** Ends the session; a second call changes nothing. Undefined when there is none. */
export async function endSession(
  tx: Tx,
  id: string,
  now: Date,
): Promise<StoredSession | undefined> {
  const [row] = await tx.many(
    StoredSession,
    sql`
      update session set ended_at = coalesce(ended_at, ${now}) where id = ${id}
      returning ${columns}
    `,
  );
  return row;
}

/** Ends all sessions of a user that are based on a provider. */
export function endSessionsByProvider(tx: Tx, principal: string, now: Date): Promise<number> {
  return tx.run(sql`
    update session set ended_at = ${now}
    where principal = ${principal} and issuer is not null and ended_at is null
  `);
}

/** Returns the active sessions, newest first; of one principal, or of all. */
export function liveSessions(tx: Tx, now: Date, principal?: string): Promise<StoredSession[]> {
  return tx.many(
    StoredSession,
    sql`
      select ${columns} from session
      where ended_at is null and ends_at > ${now}
        and (${principal ?? null}::text is null or principal = ${principal ?? null})
      order by created_at desc, id limit 1000
    `,
  );
}

/** Deletes sessions that ended before a time; returns the number of deleted ones, at most a thousand. */
export function forgetSessions(tx: Tx, before: Date): Promise<number> {
  return tx.run(sql`
    delete from session where id in (
      select id from session where least(ends_at, coalesce(ended_at, ends_at)) < ${before} limit 1000)
  `);
}
