import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { forgeKinds } from "./forge-kinds.ts";
import { ForgePolicy } from "./forge-policy.ts";
import type { SealedCredential } from "./repository-credential.store.ts";
import { repositoryKeys } from "./same-repository.ts";

const Repository = z.object({
  /** The name that graphs use. */
  name: z.string(),
  /** The kind of its forge; it may be unknown here if a later version of Grange stored it. */
  kind: z.string(),
  /** The name of the repository at the forge. */
  slug: z.string(),
  /** The address that may be shown. */
  url: z.string(),
  defaultBranch: z.string(),
  policy: ForgePolicy,
  addedBy: z.string(),
  addedAt: z.date(),
  reconciledAt: z.date().nullable(),
  commentsSince: z.date(),
  nextAt: z.date(),
  error: z.string().nullable(),
  failures: z.number(),
});
export type WatchedRepository = z.infer<typeof Repository>;

const columns = sql`
  name, kind, slug, url, default_branch as "defaultBranch", policy, added_by as "addedBy",
  added_at as "addedAt", reconciled_at as "reconciledAt", comments_since as "commentsSince",
  next_at as "nextAt", error, failures
`;

/** Notifies the watchers at all servers. */
export const forgeChannel = "grange_forge";

export async function notifyForge(tx: Tx): Promise<void> {
  await tx.run(sql`select pg_notify(${forgeChannel}, '')`);
}

/** Returns false when it is already watched. `way`: the credentials, if needed. */
export async function insertRepository(
  tx: Tx,
  {
    name,
    kind,
    slug,
    url,
    defaultBranch,
    policy,
    addedBy,
    addedAt,
    way,
  }: Pick<
    WatchedRepository,
    "name" | "kind" | "slug" | "url" | "defaultBranch" | "policy" | "addedBy" | "addedAt"
  > & { readonly way?: SealedCredential | undefined },
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into forge_repository (name, kind, slug, url, default_branch, policy, added_by, added_at,
                                  comments_since, next_at, way, way_key)
    values (${name}, ${kind}, ${slug}, ${url}, ${defaultBranch}, ${JSON.stringify(policy)}::jsonb,
            ${addedBy}, ${addedAt}, ${addedAt}, ${addedAt},
            ${way === undefined ? null : Buffer.from(way.sealed)}, ${way?.keyId ?? null})
    on conflict do nothing
  `);
  await notifyForge(tx);
  return inserted > 0;
}

export function watchedRepositories(tx: Tx): Promise<WatchedRepository[]> {
  return tx.many(Repository, sql`select ${columns} from forge_repository order by name`);
}

export async function findWatched(tx: Tx, name: string): Promise<WatchedRepository | undefined> {
  const [found] = await tx.many(
    Repository,
    sql`select ${columns} from forge_repository where name = ${name} or slug = ${name}
        order by name = ${name} desc limit 1`,
  );
  return found;
}

const Address = z.object({ name: z.string(), kind: z.string(), url: z.string() });

/** Returns the watched repository at an address, in any spelling. */
export async function findWatchedAt(
  tx: Tx,
  address: string,
): Promise<WatchedRepository | undefined> {
  const known = await tx.many(
    Address,
    sql`select name, kind, url from forge_repository order by url = ${address} desc, name`,
  );
  const keyOf = repositoryKeys(forgeKinds, known);
  const key = keyOf(address);
  const found = known.find(({ url }) => keyOf(url) === key);
  return found && findWatched(tx, found.name);
}

export async function removeRepository(tx: Tx, name: string): Promise<boolean> {
  return (await tx.run(sql`delete from forge_repository where name = ${name}`)) > 0;
}

/** Changes the policy; the whole repository is then read again at once. */
export async function changePolicy(
  tx: Tx,
  name: string,
  policy: ForgePolicy,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update forge_repository set policy = ${JSON.stringify(policy)}::jsonb, next_at = ${now}
    where name = ${name}
  `);
  // Rows that failed before may succeed now.
  await tx.run(sql`
    update forge_pull set settled = null where repository = ${name} and problem is not null
  `);
  await tx.run(sql`
    update forge_ref set worked_head = null where repository = ${name} and problem is not null
  `);
  await notifyForge(tx);
}

/** Makes the farm compare the repository with its forge at once. */
export async function lookSoon(tx: Tx, name: string, now: Date): Promise<void> {
  await tx.run(
    sql`update forge_repository set next_at = least(next_at, ${now}) where name = ${name}`,
  );
  await notifyForge(tx);
}

export async function noteDefaultBranch(tx: Tx, name: string, branch: string): Promise<void> {
  await tx.run(sql`update forge_repository set default_branch = ${branch} where name = ${name}`);
}

/** Records that comments that were changed before this time were read. */
export async function noteCommentsSince(tx: Tx, name: string, since: Date): Promise<void> {
  await tx.run(sql`
    update forge_repository set comments_since = greatest(comments_since, ${since}) where name = ${name}
  `);
}
