import { z } from "zod";
import { SharedObject } from "#core/shared-object.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { TokenFingerprint } from "../secret-token.ts";

const ShareLink = z.object({
  id: z.string(),
  object: SharedObject,
  /** Where its maker must have the right to read the object; both are empty for the whole farm. */
  repository: z.string(),
  branch: z.string(),
  madeBy: z.string(),
  madeAt: z.date(),
  expiresAt: z.date(),
  /** When it was opened first. */
  openedAt: z.date().nullable(),
  revokedAt: z.date().nullable(),
  revokedBy: z.string().nullable(),
});
export type ShareLink = z.infer<typeof ShareLink>;

const StoredShareLink = ShareLink.extend({ hash: z.instanceof(Uint8Array) });
export type StoredShareLink = z.infer<typeof StoredShareLink>;

const columns = sql`
  id, object, repository, branch, made_by as "madeBy", made_at as "madeAt", expires_at as "expiresAt",
  opened_at as "openedAt", revoked_at as "revokedAt", revoked_by as "revokedBy"
`;

export async function insertShareLink(
  tx: Tx,
  { id, hash }: TokenFingerprint,
  link: Pick<ShareLink, "object" | "repository" | "branch" | "madeBy" | "madeAt" | "expiresAt">,
): Promise<void> {
  await tx.run(sql`
    insert into share_link (id, hash, object, repository, branch, made_by, made_at, expires_at)
    values (${id}, ${hash}, ${JSON.stringify(link.object)}::jsonb, ${link.repository}, ${link.branch},
      ${link.madeBy}, ${link.madeAt}, ${link.expiresAt})
  `);
}

/** Looks up by the public part only; the caller compares the hash. */
export async function storedShareLink(tx: Tx, id: string): Promise<StoredShareLink | undefined> {
  const [row] = await tx.many(
    StoredShareLink,
    sql`select ${columns}, hash from share_link where id = ${id}`,
  );
  return row;
}

/** Returns the newest links, also those that are over; with a name, those of one maker. */
export function listShareLinks(tx: Tx, madeBy: string | undefined): Promise<ShareLink[]> {
  return tx.many(
    ShareLink,
    sql`
      select ${columns} from share_link
      where ${madeBy ?? null}::text is null or made_by = ${madeBy ?? null}
      order by made_at desc, id limit 1000
    `,
  );
}

/** Records the first opening. Returns false when the link was opened before. */
export async function markOpened(tx: Tx, id: string, now: Date): Promise<boolean> {
  const opened = await tx.run(
    sql`update share_link set opened_at = ${now} where id = ${id} and opened_at is null`,
  );
  return opened > 0;
}

/**
 * Revokes a link; with a name, only one of that maker. A link that was revoked before keeps the name of its first
 * revoker. Returns undefined when there is no such link.
 */
export async function markShareLinkRevoked(
  tx: Tx,
  { id, madeBy }: { readonly id: string; readonly madeBy: string | undefined },
  by: string,
  now: Date,
): Promise<ShareLink | undefined> {
  const [row] = await tx.many(
    ShareLink,
    sql`
      update share_link
      set revoked_at = coalesce(revoked_at, ${now}), revoked_by = coalesce(revoked_by, ${by})
      where id = ${id} and (${madeBy ?? null}::text is null or made_by = ${madeBy ?? null})
      returning ${columns}
    `,
  );
  return row;
}

/**
 * Revokes all links of a maker that has no valid token left, and returns them. A principal without any token, such as a
 * person of an identity provider, counts as one without a valid token.
 */
export function revokeLinksOfMakerWithoutToken(
  tx: Tx,
  madeBy: string,
  by: string,
  now: Date,
): Promise<ShareLink[]> {
  return tx.many(
    ShareLink,
    sql`
      update share_link set revoked_at = ${now}, revoked_by = ${by}
      where made_by = ${madeBy} and revoked_at is null and expires_at > ${now}
        and not exists (
          select from token
          where principal = ${madeBy} and revoked_at is null
            and (expires_at is null or expires_at > ${now}))
      returning ${columns}
    `,
  );
}

/** Deletes links that ended before a time; the audit log still names them. */
export async function deleteOldShareLinks(tx: Tx, before: Date): Promise<void> {
  await tx.run(sql`
    delete from share_link
    where id = any(array(select id from share_link where expires_at < ${before} limit 1000))
  `);
}
