import type { BlobStore } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { Coming, Download, Downloads } from "./downloads.ts";
import type { PartialResults } from "./partial-results.ts";
import type { SilenceBudget } from "./silence-budget.ts";
import type { Requester } from "./tiered-cache.ts";
import { arrivedWithin, waitForPrefetchMs } from "./wait-for-prefetch.ts";

interface TieredBlobsParts {
  readonly local: BlobStore;
  readonly farm: GranaryFarm;
  readonly downloads: Downloads;
  readonly partial: Pick<PartialResults, "lost">;
  readonly budgetOf: (who: Requester) => SilenceBudget;
}

/** Returns a blob store of the local blobs with the farm's behind them. Blobs that are read from the farm stay local. */
export function tieredBlobs(parts: TieredBlobsParts, who: Requester): BlobStore {
  const { local, farm, downloads, partial, budgetOf } = parts;
  const { project, build, madeAtFarm = false } = who;

  async function bring(digest: Digest): Promise<Download>;
  async function bring(digest: Digest, how: "while it comes"): Promise<Download | Coming>;
  async function bring(digest: Digest, how?: "while it comes"): Promise<Download | Coming> {
    const budget = budgetOf(who);
    const canAskFarm = () => madeAtFarm || (!budget.isOver && !farm.isAway());
    const coming = build?.prefetch?.coming(digest);
    if (
      coming !== undefined &&
      canAskFarm() &&
      (await arrivedWithin(coming, waitForPrefetchMs(farm.line())))
    ) {
      const missing = await local.findMissing([digest]);
      if (missing.length === 0) return { kind: "here", bytes: undefined };
    }
    if (!canAskFarm()) return { kind: "absent" };
    const done = build?.prefetch?.pauseForForeground();
    let over: Promise<void> | undefined;
    try {
      const download = await downloads[how === undefined ? "bring" : "follow"](
        project,
        digest,
        budget,
      );
      if (download.kind === "absent") partial.lost(digest);
      if (download.kind === "coming") over = download.over;
      return download;
    } catch (reason) {
      if (madeAtFarm) throw reason;
      // Tools rebuild missing results, but many stop at any other error, so a failed fetch counts as a missing blob.
      return { kind: "absent" };
    } finally {
      if (over === undefined) done?.();
      else void over.finally(() => done?.());
    }
  }

  return {
    async get(digest) {
      build?.requestedBlob(digest);
      const here = await unlessCorrupt(local.get(digest));
      if (here !== undefined) return here;
      const download = await bring(digest);
      if (download.kind === "absent") return undefined;
      if (download.bytes !== undefined) return download.bytes;
      return download.kind === "here" ? local.get(digest) : farm.blobs(project).get(digest);
    },

    async read(digest, range) {
      build?.requestedBlob(digest);
      const here = await unlessCorrupt(local.read(digest, range));
      if (here !== undefined) return here;
      // A range is served only from a blob that is complete and verified.
      const download =
        range === undefined ? await bring(digest, "while it comes") : await bring(digest);
      if (download.kind === "absent") return undefined;
      if (download.kind === "coming") return download.chunks;
      if (download.kind === "here") return local.read(digest, range);
      return farm.blobs(project).read(digest, range);
    },

    async put(digest, bytes) {
      await local.put(digest, bytes);
      build?.requestedBlob(digest);
    },

    async write(digest, chunks) {
      await local.write(digest, chunks);
      build?.requestedBlob(digest);
    },

    async findMissing(digests) {
      const missing = await local.findMissing(digests);
      // Bazel's builds without the bytes leave outputs only at the farm; they are inputs of its next actions.
      if (!madeAtFarm || missing.length === 0) return missing;
      return farm.blobs(project).findMissing(missing);
    },
  };
}

/** Returns undefined for a blob whose file is corrupt or unreadable. The store removes such a file when it notices. */
async function unlessCorrupt<T>(reading: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "out_of_range") throw reason;
    return undefined;
  }
}
