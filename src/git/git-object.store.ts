import { z } from "zod";
import { Digest } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import type { GitId } from "./commit-tree.ts";

const GitObject = z
  .object({ git_id: z.string(), hash: z.string(), size_bytes: z.number() })
  .transform((row) => ({
    gitId: row.git_id,
    digest: Digest.parse({ hash: row.hash, sizeBytes: row.size_bytes }),
  }));
export type GitObject = z.infer<typeof GitObject>;

/** The digests of those Git blobs that were imported before. */
export async function digestsOfGitObjects(
  tx: Tx,
  gitIds: readonly GitId[],
): Promise<Map<GitId, Digest>> {
  const rows = await tx.many(
    GitObject,
    sql`
      select git_id, hash, size_bytes
      from git_object
      where git_id = any(${gitIds}::text[])
    `,
  );
  return new Map(rows.map(({ gitId, digest }) => [gitId, digest]));
}

/** Stores digests. Concurrent imports of the same blob write the same, so the first row stays. */
export async function saveGitObjects(tx: Tx, objects: readonly GitObject[]): Promise<void> {
  if (objects.length === 0) return;
  // Sorted, so that two transactions with the same rows wait for each other and never deadlock.
  const sorted = objects.toSorted((a, b) => (a.gitId < b.gitId ? -1 : 1));
  await tx.run(sql`
    insert into git_object (git_id, hash, size_bytes)
    select git_id, hash, size_bytes
    from unnest(
      ${sorted.map(({ gitId }) => gitId)}::text[],
      ${sorted.map(({ digest }) => digest.hash)}::text[],
      ${sorted.map(({ digest }) => digest.sizeBytes)}::bigint[]
    ) as imported (git_id, hash, size_bytes)
    on conflict (git_id) do nothing
  `);
}
