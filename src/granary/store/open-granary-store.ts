import { rm } from "node:fs/promises";
import type { Logger } from "pino";
import { openDiskBlobStore } from "#cas/disk/disk-blob-store.ts";
import { diskFault } from "#cas/disk/disk-fault.ts";
import { type Clock, systemClock } from "#core/clock.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { messageOf } from "#core/fault.ts";
import type { GranaryResult } from "../granary-result.ts";
import { checkedBlobs, isDiskFull } from "./checked-blobs.ts";
import type { Compacting } from "./choose-to-compact.ts";
import { diskTroubleLog } from "./disk-trouble.ts";
import type { GranaryStore, Trimmed } from "./granary-store.ts";
import { resultName, shortKey, shortKeyOf } from "./key-set.ts";
import { knownFiles } from "./known-files.ts";
import { type LinkMode, type PlaceBlob, placingFrom } from "./link-out.ts";
import { openPack } from "./pack.ts";
import { packedBlobs, packedUpToBytes } from "./packed-blobs.ts";
import { readResultText, resultText } from "./result-text.ts";
import { soundness } from "./soundness.ts";
import { storePaths } from "./store-paths.ts";
import { trimStore } from "./trim-store.ts";

export interface GranaryStoreOptions {
  /** The granary's data directory, in which `packs`, `blobs` and `temp` are created. */
  readonly directory: string;
  readonly limitBytes: number;
  /** Whether blobs are returned without hashing them first. */
  readonly trustDisk?: boolean;
  readonly linkMode?: LinkMode;
  /** Blobs up to this size are stored in packs; 0: each blob is a file. */
  readonly packedUpToBytes?: number;
  readonly clock?: Clock;
  readonly logger: Logger;
  /**
   * Whether a blob waits to be sent to the farm and must not be trimmed. The outbox, which opens after its store,
   * provides the answer.
   */
  readonly isHeld?: (digest: Digest) => boolean;
}

export interface OpenGranaryStore extends GranaryStore {
  /**
   * Puts a blob's bytes at a path in an existing directory, for a tool; returns undefined when the blob is absent.
   * Replaces a file at the path.
   */
  readonly placeAt: PlaceBlob;
  /** Resolves when memory knows all data on the disk. Nothing needs to wait for it. */
  readonly counted: Promise<void>;
}

/**
 * A trim reads every result. If a store cannot shrink because all of it is held, it is examined again after this time,
 * or when it has grown by a share of its limit.
 */
const trimAgainAfterMs = 60_000;
const trimAgainAfterShare = 0.05;

/**
 * Opens the store of a data directory, which no other process has open.
 *
 * Nothing is synced: fetched data are fetched again, and a build makes its results again. After a power cut, a recent
 * result is complete or a miss, which the hash in its record shows; the same holds for a recent blob and its own hash.
 * Results in files of their own, from old versions, are removed.
 */
export async function openGranaryStore(options: GranaryStoreOptions): Promise<OpenGranaryStore> {
  const { directory, limitBytes, logger, clock = systemClock, isHeld = () => false } = options;
  const paths = storePaths(directory);
  const disk = await openDiskBlobStore(directory);

  const known = knownFiles(paths);
  const pack = await openPack({ directory: paths.packs, limitBytes, now: () => clock.now() });
  void rm(paths.oldResults, { recursive: true, force: true }).catch(() => {});
  const sound = soundness();
  const stopping = new AbortController();
  const counted = known.count(stopping.signal).then(trimIfFull, (reason: unknown) => {
    // Every query then continues to check the disk.
    logger.warn({ reason: messageOf(reason) }, "the store was not counted");
  });
  let trimming: Promise<Trimmed> | undefined;
  let makingRoom: Promise<boolean> | undefined;
  let namedMeanwhile = new Set<number>();
  let trimAgainAtMs = 0;
  let leftByLastTrim = 0;

  const trustDisk = options.trustDisk ?? false;
  const logRemoved = (digest: Digest, because: string) =>
    logger.warn({ blob: digestKey(digest), because }, "removed a blob whose content has changed");
  const files = checkedBlobs(disk, {
    directory,
    trustDisk,
    clock,
    known: sound,
    onHere(digest) {
      known.blobIsHere(digest);
      trimIfFull();
    },
    onGone(digest, because) {
      known.blobIsGone(digest);
      if (because !== "absent") logRemoved(digest, because);
    },
    makeRoom,
  });
  const trouble = diskTroubleLog(directory, () => clock.now());
  const packed = packedBlobs({
    directory,
    pack,
    files,
    isFile: (digest) => known.hasBlob(digest),
    mostBytes: options.packedUpToBytes ?? packedUpToBytes,
    trustDisk,
    onHere: trimIfFull,
    onRotten: (digest) => logRemoved(digest, "rotten"),
    makeRoom: async (reason) => isDiskFull(reason) && makeRoom(),
  });

  const blobs = trouble.countedIn(packed);

  const diskBytes = () => known.counts().bytes + pack.diskBytes();
  const bytesHere = () => known.counts().bytes + pack.counts().bytes;

  function trim(compacting: Compacting = "usual"): Promise<Trimmed> {
    trimming ??= (async () => {
      namedMeanwhile = new Set();
      const diskBytesBefore = diskBytes();
      try {
        const { removedBytes, leftFileBytes } = await trimStore({
          paths,
          known,
          pack,
          limitBytes,
          compacting,
          now: clock.now(),
          isHeld,
          namedMeanwhile,
          signal: stopping.signal,
        });
        if (!stopping.signal.aborted) known.bytesAre(leftFileBytes);
        const leftBytes = bytesHere();
        leftByLastTrim = leftBytes;
        if (removedBytes > 0) logger.info({ removedBytes, leftBytes }, "trimmed the store");
        return { removedBytes, freedBytes: Math.max(0, diskBytesBefore - diskBytes()) };
      } finally {
        trimming = undefined;
      }
    })();
    return trimming;
  }

  function trimIfFull(): void {
    const bytes = bytesHere();
    if (bytes <= limitBytes || trimming !== undefined || stopping.signal.aborted) return;
    // Measured with the monotonic clock.
    const isLongAgo = performance.now() >= trimAgainAtMs;
    if (!isLongAgo && bytes < leftByLastTrim + limitBytes * trimAgainAfterShare) return;
    trimAgainAtMs = performance.now() + trimAgainAfterMs;
    trim().catch((reason: unknown) => {
      logger.warn({ reason: messageOf(reason) }, "the store was not trimmed");
    });
  }

  /** The disk is smaller than the limit, or others fill it: removes a tenth of the store. */
  function makeRoom(): Promise<boolean> {
    // All callers that find the disk full at the same time share one removal.
    makingRoom ??= (async () => {
      try {
        await trimming?.catch(() => {});
        const { removedBytes } = await trim("disk-full");
        trouble.madeRoom(removedBytes);
        return removedBytes > 0;
      } finally {
        makingRoom = undefined;
      }
    })();
    return makingRoom;
  }

  const noteNamed = (result: GranaryResult) => {
    if (trimming === undefined) return;
    namedMeanwhile.add(shortKey(nameOf(result)));
    for (const digest of [result.value, ...result.blobs]) namedMeanwhile.add(shortKeyOf(digest));
  };

  return {
    blobs,
    counted,
    placeAt: placingFrom(paths, blobs, sound, options.linkMode ?? "auto"),

    asFile: (digest) => blobs.asFile(digest),

    async find(project, { namespace, key }) {
      const name = resultName(project, namespace, key);
      const text = pack.read("result", name);
      if (text === undefined) return undefined;
      const result = readResultText(text.toString("utf8"));
      const isRequested =
        result?.project === project && result.namespace === namespace && result.key === key;
      if (result !== undefined && isRequested) noteNamed(result);
      const isWhole =
        isRequested && [result.value, ...result.blobs].every((digest) => blobs.look(digest));
      if (!isWhole) {
        pack.remove("result", name);
        return undefined;
      }
      pack.noteUse("result", name);
      return result;
    },

    has: (project, { namespace, key }) => pack.has("result", resultName(project, namespace, key)),
    hasBlob: (digest) =>
      pack.sizeOf("blob", digest.hash) === digest.sizeBytes || known.hasBlob(digest),

    async keep(result) {
      const put = () => pack.put("result", nameOf(result), Buffer.from(resultText(result)));
      noteNamed(result);
      await trouble.counted(async () => {
        try {
          put();
        } catch (reason) {
          if (!isDiskFull(reason) || !(await makeRoom())) throw diskFault(reason, directory);
          put();
        }
      });
      noteNamed(result);
      trimIfFull();
    },

    async forget(project, { namespace, key }) {
      pack.remove("result", resultName(project, namespace, key));
    },

    sync: () => pack.sync(),
    diskTrouble: () => trouble.read(),

    async usage() {
      await counted;
      const packed = pack.counts();
      const { results } = packed;
      return {
        results,
        blobs: known.counts().blobs + packed.blobs,
        bytes: bytesHere(),
        diskBytes: diskBytes(),
        limitBytes,
      };
    },

    trim: async (compacting) => {
      await trimming?.catch(() => {});
      return trim(compacting);
    },

    async stop() {
      stopping.abort();
      await counted.catch(() => {});
      await trimming?.catch(() => {});
      pack.close();
    },
  };
}

function nameOf({ project, namespace, key }: GranaryResult): string {
  return resultName(project, namespace, key);
}
