import type { Logger } from "pino";
import type { BlobStore } from "#cas/blob-store.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import type { Clock } from "#core/clock.ts";
import type { Digest } from "#core/digest.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { type IsProtected, keptOfProtectedBranch } from "./delete-unused.ts";
import { indexedBranches, type TipIndex, tipsOfBranch } from "./index-retention.store.ts";
import { entriesOf } from "./nearest-base.ts";
import type { BlobsOf, TreesOf } from "./project-parts.ts";
import { projectResults } from "./project-results.ts";

/**
 * The highest number of environments (systems, toolchains) of one branch. Reports of more are not plausible, and pin
 * nothing further.
 */
const mostEnvironments = 8;
const entriesAtOnce = 500;

interface PinnedBlob {
  readonly project: string;
  readonly digest: Digest;
}

/**
 * Returns the blobs that a fresh machine needs to build the tip of each protected branch: its newest indexes, their
 * bases, and all blobs of the results that they name. Blobs that were never requested are included, because a result is
 * only usable with all its blobs.
 *
 * Reads one index at a time. May name a blob twice.
 */
export async function* pinnedBlobs(parts: {
  readonly db: Db;
  readonly blobsOf: BlobsOf;
  readonly treesOf: TreesOf;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly domain: TrustDomain;
  readonly isProtected: IsProtected;
}): AsyncGenerator<PinnedBlob, void, undefined> {
  const { db, domain } = parts;
  const results = projectResults(parts);
  for (const branch of await indexedBranches(db, domain)) {
    if (!(await parts.isProtected(branch.repository, branch.branch))) continue;
    const tips = await tipsOfBranch(db, branch, {
      domain,
      most: keptOfProtectedBranch,
      mostEnvironments,
    });
    for (const tip of tips) {
      const { project } = tip;
      const { logger } = parts;
      for await (const digest of blobsOfTip(
        { blobs: parts.blobsOf(project), logger },
        results,
        tip,
      ))
        yield { project, digest };
    }
  }
}

async function* blobsOfTip(
  parts: { readonly blobs: BlobStore; readonly logger: Logger },
  results: Pick<ReturnType<typeof projectResults>, "named">,
  { project, digest }: TipIndex,
): AsyncGenerator<Digest, void, undefined> {
  const read: Digest[] = [];
  const entries = await entriesOf(parts, digest, (blob) => read.push(blob));
  if (entries === undefined) return;
  yield* read;
  for (let at = 0; at < entries.length; at += entriesAtOnce) {
    const some: readonly IndexEntry[] = entries.slice(at, at + entriesAtOnce);
    for (const { blobs } of some) yield* blobs;
    for (const { value, blobs } of await results.named(project, some)) {
      yield value;
      yield* blobs;
    }
  }
}
