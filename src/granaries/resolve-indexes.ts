import type { BlobStore } from "#cas/blob-store.ts";
import type { Clock } from "#core/clock.ts";
import { digestKey } from "#core/digest.ts";
import { readableDomains } from "#core/readable-domains.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { type ChosenIndex, chooseIndexes, chooseNewest } from "./choose-indexes.ts";
import { candidateIndexes, newestOfRepository, type StoredIndex } from "./commit-index.store.ts";
import { touchIndexes } from "./index-retention.store.ts";
import type { IndexedBuild } from "./indexed-build.ts";

const touchAfterMs = 60 * 60_000;

/** The indexes that serve a build best, the best first; each is in the store. */
export async function resolveIndexes(
  parts: {
    readonly db: Db;
    readonly blobsOf: (project: string) => Pick<BlobStore, "findMissing">;
    readonly clock: Clock;
    readonly domain: TrustDomain;
  },
  build: IndexedBuild,
): Promise<ChosenIndex<StoredIndex>[]> {
  const { db, clock } = parts;
  const blobs = parts.blobsOf(build.project);
  const domains = readableDomains(parts.domain);
  const found = (await candidateIndexes(db, { ...build, domains })).toSorted(
    (a, b) => domains.indexOf(a.domain) - domains.indexOf(b.domain),
  );
  let chosen = chooseIndexes(await wholeOnes(blobs, found), build);
  // A request without a commit needs no index.
  if (chosen.length === 0 && build.commits.length > 0) {
    const newest = await newestOfRepository(db, { ...build, domains });
    chosen = chooseNewest(await wholeOnes(blobs, newest));
  }
  const longUnused = chosen
    .map(({ candidate }) => candidate)
    .filter(({ lastUsedAt }) => clock.now().getTime() - lastUsedAt.getTime() > touchAfterMs);
  await touchIndexes(db, longUnused);
  return chosen;
}

/** The check also extends the life of existing blobs: an index without its base is useless. */
async function wholeOnes(
  blobs: Pick<BlobStore, "findMissing">,
  indexes: readonly StoredIndex[],
): Promise<StoredIndex[]> {
  const blobsOf = ({ digest, base }: StoredIndex) =>
    base === undefined ? [digest] : [digest, base];
  if (indexes.length === 0) return [];
  const missing = new Set((await blobs.findMissing(indexes.flatMap(blobsOf))).map(digestKey));
  return indexes.filter(
    (index) => !blobsOf(index).some((digest) => missing.has(digestKey(digest))),
  );
}
