import type { Logger } from "pino";
import type { BlobStore } from "#cas/blob-store.ts";
import type { BaseIndex } from "#commit-index/delta-to.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import { resolveChain } from "#commit-index/resolve-chain.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { chooseBases } from "./choose-indexes.ts";
import { candidateIndexes, type StoredIndex } from "./commit-index.store.ts";
import type { IndexedBuild } from "./indexed-build.ts";

interface BaseParts {
  readonly db: Db;
  readonly blobs: BlobStore;
  readonly logger: Logger;
  readonly domain: TrustDomain;
}

/**
 * Returns the base for storing this index as a difference: the nearest ancestor's index, or the base of that index.
 *
 * Each base is a round trip before a build's first result is prefetched. So there is at most one, and a new base begins
 * when half of it has changed.
 */
export async function nearestBase(
  parts: BaseParts,
  build: IndexedBuild,
): Promise<BaseIndex | undefined> {
  const [, ...parents] = build.commits;
  const found = await candidateIndexes(parts.db, {
    ...build,
    commits: parents,
    tree: "",
    branch: "",
    domains: [parts.domain],
  });
  const nearest = chooseBases<StoredIndex>(found, parents)[0]?.candidate;
  if (nearest === undefined) return undefined;
  let digest = nearest.digest;
  if (nearest.chain > 1) {
    await entriesOf(parts, nearest.digest, (read) => {
      digest = read;
    });
  }
  const entries = await entriesOf(parts, digest);
  return entries && { digest, entries, chain: 1 };
}

/** Returns undefined when it can no longer be read because one of its blobs was lost. */
export async function entriesOf(
  { blobs, logger }: Pick<BaseParts, "blobs" | "logger">,
  digest: Digest,
  /** Called with each blob, bases last. */
  reading: (blob: Digest) => void = () => {},
): Promise<readonly IndexEntry[] | undefined> {
  try {
    const read = (blob: Digest) => {
      reading(blob);
      return blobs.get(blob);
    };
    return (await resolveChain(digest, read)).entries;
  } catch (reason) {
    if (!(reason instanceof Fault) || !losses.has(reason.code)) throw reason;
    logger.warn({ err: reason, index: digestKey(digest) }, "a commit index is lost");
    return undefined;
  }
}

const losses: ReadonlySet<Fault["code"]> = new Set(["not_found", "invalid_argument", "data_loss"]);
