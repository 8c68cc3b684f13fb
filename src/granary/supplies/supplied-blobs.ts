import type { BlobStore } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { Coming, Download, Downloads } from "./downloads.ts";
import type { FarmPatience } from "./farm-patience.ts";
import type { HalfFetched } from "./half-fetched.ts";
import type { ForWhom } from "./supplies.ts";
import { cameWithin, waitForPrefetchMs } from "./wait-for-prefetch.ts";

export interface SuppliedBlobsParts {
  readonly local: BlobStore;
  readonly farm: GranaryFarm;
  readonly downloads: Downloads;
  readonly halves: Pick<HalfFetched, "lost">;
  readonly patienceOf: (who: ForWhom) => FarmPatience;
}

/** This machine's blobs, and behind them the farm's: what is read of those stays here. */
export function suppliedBlobs(parts: SuppliedBlobsParts, who: ForWhom): BlobStore {
  const { local, farm, downloads, halves, patienceOf } = parts;
  const { project, build, madeAtFarm = false } = who;

  async function bring(digest: Digest): Promise<Download>;
  async function bring(digest: Digest, how: "while it comes"): Promise<Download | Coming>;
  async function bring(digest: Digest, how?: "while it comes"): Promise<Download | Coming> {
    const patience = patienceOf(who);
    const hasHope = () => madeAtFarm || (!patience.isOver && !farm.isAway());
    const coming = build?.prefetch?.coming(digest);
    if (
      coming !== undefined &&
      hasHope() &&
      (await cameWithin(coming, waitForPrefetchMs(farm.line())))
    ) {
      const missing = await local.findMissing([digest]);
      if (missing.length === 0) return { kind: "here", bytes: undefined };
    }
    if (!hasHope()) return { kind: "absent" };
    const done = build?.prefetch?.giveWay();
    let over: Promise<void> | undefined;
    try {
      const download = await downloads[how === undefined ? "bring" : "follow"](
        project,
        digest,
        patience,
      );
      if (download.kind === "absent") halves.lost(digest);
      if (download.kind === "coming") over = download.over;
      return download;
    } catch (reason) {
      if (madeAtFarm) throw reason;
      // A blob that cannot be had is none: tools make again what they lack, and end over other answers.
      return { kind: "absent" };
    } finally {
      if (over === undefined) done?.();
      else void over.finally(() => done?.());
    }
  }

  return {
    async get(digest) {
      build?.askedBlob(digest);
      const here = await unlessRotten(local.get(digest));
      if (here !== undefined) return here;
      const download = await bring(digest);
      if (download.kind === "absent") return undefined;
      if (download.bytes !== undefined) return download.bytes;
      return download.kind === "here" ? local.get(digest) : farm.blobs(project).get(digest);
    },

    async read(digest, range) {
      build?.askedBlob(digest);
      const here = await unlessRotten(local.read(digest, range));
      if (here !== undefined) return here;
      // Who reads a part first wants to be certain of the whole before anything of it is given.
      const download =
        range === undefined ? await bring(digest, "while it comes") : await bring(digest);
      if (download.kind === "absent") return undefined;
      if (download.kind === "coming") return download.chunks;
      if (download.kind === "here") return local.read(digest, range);
      return farm.blobs(project).read(digest, range);
    },

    async put(digest, bytes) {
      await local.put(digest, bytes);
      build?.askedBlob(digest);
    },

    async write(digest, chunks) {
      await local.write(digest, chunks);
      build?.askedBlob(digest);
    },

    async findMissing(digests) {
      const missing = await local.findMissing(digests);
      // Outputs that a tool has left there (Bazel's builds without the bytes) are inputs of its next actions, and are nowhere else.
      if (!madeAtFarm || missing.length === 0) return missing;
      return farm.blobs(project).findMissing(missing);
    },
  };
}

/** A blob whose file has rotted, or cannot be read, is not here; whoever found that has removed it. */
async function unlessRotten<T>(reading: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "out_of_range") throw reason;
    return undefined;
  }
}
