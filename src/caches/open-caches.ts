import type { Logger } from "pino";
import type { OutputTrees } from "#actions/output-trees.ts";
import type { BlobStore, ByteRange } from "#cas/blob-store.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { DiskBlobStore } from "#cas/disk-blob-store.ts";
import type { Clock } from "#core/clock.ts";
import { coalescer } from "#core/coalescer.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type CacheCounter, cacheCounter } from "./cache-counts.ts";
import {
  addEntry,
  entriesNamed,
  type NewCacheEntry,
  removeEntry,
  replaceEntries,
  touchEntries,
} from "./cache-entry.store.ts";
import { forgetGone } from "./forget-gone.ts";
import { resultPutFor } from "./result-put-for.ts";
import { resultUnder } from "./result-under.ts";
import type { CacheEntry, EntryName } from "./tool-rules.ts";

/** The bytes of an entry or a blob. Those in one piece are known to be right. */
export type Value =
  | { readonly kind: "bytes"; readonly digest: Digest; readonly bytes: Uint8Array }
  | {
      readonly kind: "stream";
      readonly digest: Digest;
      readonly chunks: AsyncIterable<Uint8Array>;
    };

export interface ValueWish {
  readonly range?: ByteRange;
  /** Only whether it is there. */
  readonly headOnly?: boolean;
  /** A stream, too, begins only when all of it is known to be right. */
  readonly certain?: boolean;
}

/** What build tools keep, by name, in the store of all. */
export interface Caches extends Service {
  readonly counter: CacheCounter;
  find(name: EntryName): Promise<CacheEntry | undefined>;
  findMany(names: readonly EntryName[]): Promise<CacheEntry[]>;
  /** An entry's bytes; undefined when they are gone, and then it is an entry no more. */
  valueOf(entry: CacheEntry, wish: ValueWish): Promise<Value | undefined>;
  /** A blob that anybody put into the store, by its hash. */
  blobWith(hash: string): Promise<Digest | undefined>;
  blobValue(digest: Digest, wish: ValueWish): Promise<Value | undefined>;
  /** An ActionResult all of whose blobs are there, from whoever made it; or what was put in place of one. */
  actionResult(name: EntryName, hash: string, wish: ValueWish): Promise<Value | undefined>;
  /** The result of an action that somebody put there over HTTP, for those who ask by gRPC. */
  resultPutFor(project: string, action: Digest): Promise<ActionResult | undefined>;
  /** Takes in bytes. They are kept, but nothing names them yet. */
  take(chunks: AsyncIterable<Uint8Array>): Promise<Digest>;
  /** The same where all is known already: the store need not write what it has. */
  takeAs(digest: Digest, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Durable when it resolves. "refused" when there is one, and `again` is "refuse". */
  keep(entry: NewCacheEntry, again: "replace" | "refuse"): Promise<"kept" | "refused">;
  remove(name: EntryName): Promise<boolean>;
}

/** A value of so many bytes is read as one, and is right or no hit. */
const inOnePiece = 256 * 1024;

/** An entry that was used is marked at most so often. */
const touchAfterMs = 60 * 60_000;

const nameKey = ({ project, tool, key }: EntryName) => `${tool}/${key}/${project}`;

export function openCaches(parts: {
  readonly db: Db;
  readonly blobs: BlobStore;
  readonly disk: Pick<DiskBlobStore, "take" | "withHash">;
  readonly trees: OutputTrees;
  readonly clock: Clock;
  readonly logger: Logger;
}): Caches {
  const { db, blobs, disk, trees, clock, logger } = parts;

  const finding = coalescer<EntryName, CacheEntry | undefined>(async (names) => {
    const found = new Map((await entriesNamed(db, names)).map((each) => [nameKey(each), each]));
    return names.map((name) => found.get(nameKey(name)));
  });

  const keeping = coalescer<NewCacheEntry, void>(async (entries) => {
    // Of two that came together the last counts, as if it had come last.
    await replaceEntries(db, [...new Map(entries.map((each) => [nameKey(each), each])).values()]);
    return entries.map(() => undefined);
  });

  const touching = coalescer<EntryName, void>(async (names) => {
    await touchEntries(db, names);
    return names.map(() => undefined);
  });

  const find = (name: EntryName) => finding.add(name);

  const forgetting = coalescer<CacheEntry, void>(async (entries) => {
    for (const entry of entries) await forgetGone(db, blobs, entry);
    return entries.map(() => undefined);
  });

  /** A value that cannot be had is a miss; who waits for the answer need not wait for this. */
  function forget(entry: CacheEntry): void {
    forgetting
      .add(entry)
      .catch((err: unknown) =>
        logger.warn(
          { err, entry: nameKey(entry) },
          "an entry without a blob could not be forgotten",
        ),
      );
  }

  async function blobValue(digest: Digest, wish: ValueWish): Promise<Value | undefined> {
    try {
      if (wish.headOnly) {
        const missing = await blobs.findMissing([digest]);
        return missing.length === 0 ? { kind: "bytes", digest, bytes: noBytes } : undefined;
      }
      if (digest.sizeBytes <= inOnePiece && wish.range === undefined) {
        const bytes = await blobs.get(digest);
        return bytes && { kind: "bytes", digest, bytes };
      }
      if (wish.certain && digest.sizeBytes > 0) {
        // Reading a part checks the whole.
        const first = await blobs.read(digest, { offset: 0, limit: 1 });
        if (first === undefined) return undefined;
        for await (const _ of first);
      }
      const chunks = await blobs.read(digest, wish.range);
      return chunks && { kind: "stream", digest, chunks };
    } catch (reason) {
      if (reason instanceof Fault && reason.code === "data_loss") return undefined;
      throw reason;
    }
  }

  async function valueOf(entry: CacheEntry, wish: ValueWish): Promise<Value | undefined> {
    const value = await blobValue(entry.digest, wish);
    if (value === undefined) forget(entry);
    else if (clock.now().getTime() - entry.lastUsedAt.getTime() > touchAfterMs) {
      // The blob, too: reading it does not extend its life.
      Promise.all([touching.add(entry), blobs.findMissing([entry.digest])]).catch((err: unknown) =>
        logger.warn({ err }, "the use of an entry was not noted"),
      );
    }
    return value;
  }

  const results = { db, trees, find, valueOf, mostResultBytes: inOnePiece };

  return {
    counter: cacheCounter(),
    find,
    findMany: (names) => (names.length === 0 ? Promise.resolve([]) : entriesNamed(db, names)),
    valueOf,
    blobWith: (hash) => disk.withHash(hash),
    blobValue,
    actionResult: (name, hash, wish) => resultUnder(results, name, hash, wish),
    resultPutFor: (project, action) => resultPutFor(results, project, action),

    async take(chunks) {
      const { head, rest } = await upTo(inOnePiece, chunks);
      if (rest !== undefined) return disk.take(rest);
      const digest = digestOf(head);
      await blobs.put(digest, head);
      return digest;
    },
    takeAs: (digest, chunks) => blobs.write(digest, chunks),

    async keep(entry, again) {
      if (again === "replace") {
        await keeping.add(entry);
        return "kept";
      }
      if (await addEntry(db, entry)) return "kept";
      const first = await find(entry);
      if (first !== undefined) {
        const gone = await blobs.findMissing([first.digest]);
        if (gone.length === 0) return "refused";
        await forgetGone(db, blobs, first);
      }
      return (await addEntry(db, entry)) ? "kept" : "refused";
    },

    remove: (name) => removeEntry(db, name),

    async stop() {
      await Promise.all([finding.idle(), keeping.idle(), touching.idle(), forgetting.idle()]);
    },
  };
}

const noBytes = new Uint8Array();

/** All of the chunks in one piece when they are few bytes; otherwise a stream of the same. */
async function upTo(
  most: number,
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ head: Buffer; rest?: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let size = 0;
  while (size <= most) {
    const next = await iterator.next();
    if (next.done) return { head: Buffer.concat(first) };
    first.push(next.value);
    size += next.value.byteLength;
  }
  async function* all() {
    try {
      yield* first;
      for (;;) {
        const next = await iterator.next();
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { head: Buffer.alloc(0), rest: all() };
}
