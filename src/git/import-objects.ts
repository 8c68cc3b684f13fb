import type { BlobStore } from "#cas/blob-store.ts";
import { digestOf, startDigest } from "#cas/digest-of.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import type { GitId } from "./commit-tree.ts";
import { digestsOfGitObjects, type GitObject, saveGitObjects } from "./git-object.store.ts";
import { readObjects } from "./read-objects.ts";
import type { Git } from "./run-git.ts";

export interface ImportServices {
  readonly git: Git;
  readonly db: Tx;
  readonly store: BlobStore;
}

/** Larger blobs are never completely in memory. */
const smallBytes = 1024 * 1024;

/** The number of small blobs that are stored at once; 16 MiB at most. */
const putsAtOnce = 16;

/**
 * Makes sure that Git blobs of a mirror are in the store; returns their digests.
 *
 * A blob is read only when its digest is unknown, or known but no longer stored.
 */
export async function importObjects(
  { git, db, store }: ImportServices,
  mirror: string,
  gitIds: readonly GitId[],
): Promise<Map<GitId, Digest>> {
  const wanted = [...new Set(gitIds)];
  const digests = await digestsOfGitObjects(db, wanted);
  const absent = await absentOf(store, [...digests.values()]);
  const isDone = (id: GitId) => {
    const digest = digests.get(id);
    return digest !== undefined && !absent.has(digestKey(digest));
  };
  const fresh: GitObject[] = [];
  const hashedOnly: GitId[] = [];
  const puts = new Set<Promise<void>>();
  let failure: { readonly reason: unknown } | undefined;

  try {
    const toRead = wanted.filter((id) => !isDone(id));
    for await (const object of readObjects(git, mirror, toRead)) {
      const { gitId, sizeBytes } = object;
      const known = digests.get(gitId);
      if (sizeBytes <= smallBytes) {
        const bytes = await object.take();
        const digest = digestOf(bytes);
        if (known === undefined) fresh.push({ gitId, digest });
        const put = store
          .put(digest, bytes)
          .catch((reason: unknown) => {
            failure ??= { reason };
          })
          .finally(() => puts.delete(put));
        puts.add(put);
        if (puts.size >= putsAtOnce) await Promise.race(puts);
        if (failure) break;
      } else if (known) {
        await store.write(known, object.stream());
      } else {
        fresh.push({ gitId, digest: await digestOfStream(object.stream()) });
        hashedOnly.push(gitId);
      }
    }
  } finally {
    await Promise.all(puts);
  }
  if (failure) throw failure.reason;

  for (const { gitId, digest } of fresh) digests.set(gitId, digest);
  await writeLarge(store, git, mirror, hashedOnly, digests);
  await saveGitObjects(db, fresh);
  return digests;
}

/** A store asks for the digest before the bytes, so a large new blob is read a second time. */
async function writeLarge(
  store: BlobStore,
  git: Git,
  mirror: string,
  gitIds: readonly GitId[],
  digests: ReadonlyMap<GitId, Digest>,
): Promise<void> {
  const absent = await absentOf(
    store,
    gitIds.flatMap((id) => digests.get(id) ?? []),
  );
  for await (const object of readObjects(git, mirror, gitIds)) {
    const digest = digests.get(object.gitId);
    if (digest && absent.has(digestKey(digest))) await store.write(digest, object.stream());
  }
}

async function absentOf(store: BlobStore, digests: readonly Digest[]): Promise<Set<string>> {
  return new Set((await store.findMissing(digests)).map(digestKey));
}

async function digestOfStream(chunks: AsyncIterable<Uint8Array>): Promise<Digest> {
  const running = startDigest();
  for await (const chunk of chunks) running.update(chunk);
  return running.digest();
}
