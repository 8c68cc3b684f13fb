import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { BlobStore } from "#cas/blob-store.ts";
import { assertBytesMatch, matchingBytes } from "#cas/matching-bytes.ts";
import type { Digest } from "#core/digest.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { inBatches } from "./fetch-batches.ts";
import { InputsMissing } from "./inputs-missing.ts";
import type { WantedFile } from "./local-store.ts";
import { isPassing, type RetryWindow } from "./retry-window.ts";

/** Blobs up to this size are fetched whole, larger ones as a stream. */
const wholeUpToBytes = 1024 * 1024;

/**
 * Files up to this size share calls, because a call costs more than their bytes. A batch is requested in one turn of
 * the event loop, so that the farm's store combines it into one call.
 */
const batchedUpToBytes = 128 * 1024;
const batchLimits = { mostBytes: 1024 * 1024, mostItems: 500 };
/** One is being received, one is being written, and two keep the connection busy. */
const batchesAtOnce = 4;

/** The storage for fetched files. */
interface KeptFiles {
  path(file: WantedFile): string;
  has(file: WantedFile): boolean;
  /** Creates a file from the one that has the same bytes and the other mode. */
  copyTwin(file: WantedFile): Promise<void>;
  /** Creates a file, or replaces the one with its name, after `fill` has written it. */
  writeAside(file: WantedFile, fill: (temp: string) => Promise<void>): Promise<void>;
  /** Creates files from checked bytes; returns those whose names exist already. */
  make<F extends { readonly file: WantedFile; readonly bytes: Uint8Array }>(
    files: readonly F[],
  ): Promise<F[]>;
}

/** Fetches files from the farm, each once for all requesters: small ones many to a call, large ones as streams. */
export class FileFetches {
  readonly #kept: KeptFiles;
  readonly #retryWindow: RetryWindow;
  readonly #fetching = new Map<string, Promise<void>>();

  constructor(kept: KeptFiles, retryWindow: RetryWindow) {
    this.#kept = kept;
    this.#retryWindow = retryWindow;
  }

  bytes(digest: Digest, farm: BlobStore): Promise<Uint8Array> {
    return this.#retryWindow.persistently(() => this.#get(digest, farm));
  }

  /** Returns the blobs that the farm does not have. */
  async fetch(absent: readonly WantedFile[], farm: BlobStore): Promise<Digest[]> {
    const isBatched = (file: WantedFile) =>
      file.digest.sizeBytes <= batchedUpToBytes && !this.#kept.has(twinOf(file));
    const batched = new Set(absent.filter(isBatched));
    const small = [...batched];
    const others = absent.filter((file) => !batched.has(file));
    const missing: Digest[] = [];
    const noteMissing = async (fetching: Promise<unknown>) => {
      try {
        await fetching;
      } catch (reason) {
        if (!(reason instanceof InputsMissing)) throw reason;
        missing.push(...reason.digests);
      }
    };
    const ended = await Promise.allSettled([
      mapAtMost(batchesAtOnce, inBatches(small, batchLimits), (batch) =>
        mapAtMost(batch.length, this.#fetchBatch(batch, farm), noteMissing),
      ),
      mapAtMost(32, others, (file) => noteMissing(this.#fetchAlone(file, farm))),
    ]);
    for (const end of ended) if (end.status === "rejected") throw end.reason;
    return missing;
  }

  /** Returns a promise for each of the files; files that another call is already fetching share its promise. */
  #fetchBatch(batch: readonly WantedFile[], farm: BlobStore): Promise<void>[] {
    const own = batch.filter((file) => !this.#fetching.has(this.#kept.path(file)));
    const failures = this.#downloadBatch(own, farm);
    for (const file of own) {
      const path = this.#kept.path(file);
      const fetching = failures
        .then((failed) => {
          if (failed.has(path)) throw failed.get(path);
        })
        .finally(() => this.#fetching.delete(path));
      this.#fetching.set(path, fetching);
    }
    return batch.map((file) => this.#fetching.get(this.#kept.path(file)) ?? Promise.resolve());
  }

  /** Returns the failures, by path. */
  async #downloadBatch(
    batch: readonly WantedFile[],
    farm: BlobStore,
  ): Promise<Map<string, unknown>> {
    const failed = new Map<string, unknown>();
    if (batch.length === 0) return failed;
    const answers = await this.#retryWindow.persistently(() =>
      Promise.all(batch.map(({ digest }) => this.#getOrWhyNot(digest, farm))),
    );
    const come = answers.flatMap((answer, at) => {
      const file = batch[at] as WantedFile;
      if (answer instanceof Uint8Array) return [{ file, bytes: answer }];
      failed.set(this.#kept.path(file), answer.whyNot);
      return [];
    });
    for (const { file, bytes } of await this.#kept.make(come)) await this.#replace(file, bytes);
    return failed;
  }

  /** A transient failure belongs to the whole call, which is repeated. */
  async #getOrWhyNot(
    digest: Digest,
    farm: BlobStore,
  ): Promise<Uint8Array | { readonly whyNot: unknown }> {
    try {
      return await this.#get(digest, farm);
    } catch (reason) {
      if (isPassing(reason)) throw reason;
      return { whyNot: reason };
    }
  }

  async #fetchAlone(file: WantedFile, farm: BlobStore): Promise<void> {
    const path = this.#kept.path(file);
    const under = this.#fetching.get(path);
    if (under) return under;
    const fetching = this.#ensure(file, farm).finally(() => this.#fetching.delete(path));
    this.#fetching.set(path, fetching);
    return fetching;
  }

  async #ensure(file: WantedFile, farm: BlobStore): Promise<void> {
    if (this.#kept.has(file)) return;
    if (!this.#kept.has(twinOf(file)))
      return this.#retryWindow.persistently(() => this.#download(file, farm));
    await this.#kept.copyTwin(file);
  }

  async #download(file: WantedFile, farm: BlobStore): Promise<void> {
    const { digest } = file;
    if (digest.sizeBytes <= wholeUpToBytes) {
      return this.#replace(file, await this.#get(digest, farm));
    }
    await this.#kept.writeAside(file, async (temp) => {
      const chunks = await farm.read(digest);
      if (!chunks) throw new InputsMissing([digest]);
      const checked = matchingBytes(digest, chunks, "data_loss");
      await pipeline(Readable.from(checked), createWriteStream(temp, { flags: "wx" }));
    });
  }

  /** Writes a file in place of an existing one with its name. */
  #replace(file: WantedFile, bytes: Uint8Array): Promise<void> {
    return this.#kept.writeAside(file, (temp) => writeFile(temp, bytes, { flag: "wx" }));
  }

  async #get(digest: Digest, farm: BlobStore): Promise<Uint8Array> {
    const bytes = digest.sizeBytes === 0 ? new Uint8Array() : await farm.get(digest);
    if (!bytes) throw new InputsMissing([digest]);
    await assertBytesMatch(digest, bytes, "data_loss");
    return bytes;
  }
}

/**
 * Returns the same file with the other mode: if it is stored here, the farm does not have to have the bytes any more.
 */
function twinOf({ digest, executable }: WantedFile): WantedFile {
  return { digest, executable: !executable };
}
