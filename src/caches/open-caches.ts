import type { Logger } from "pino";
import type { OutputTrees } from "#actions/output-trees.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { ProjectStore } from "#cas/namespaces/project-blobs.ts";
import type { Clock } from "#core/clock.ts";
import { coalescer } from "#core/coalescer.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import { blobValue, inOnePiece } from "./blob-value.ts";
import { cacheCounter } from "./cache-counts.ts";
import {
  addEntry,
  entriesNamed,
  removeEntry,
  replaceEntries,
  touchEntries,
} from "./cache-entry.store.ts";
import type { CacheUse } from "./cache-use.ts";
import type { Caches, Value, ValueLookup } from "./caches.ts";
import { forgetGone } from "./forget-gone.ts";
import { resultPutFor } from "./result-put-for.ts";
import { resultUnder } from "./result-under.ts";
import type { CacheEntry, EntryName, EntryQuery, NewCacheEntry } from "./tool-rules.ts";

/** An entry is marked as used at most once in this time. */
const touchAfterMs = 60 * 60_000;

const nameKey = ({ project, tool, key }: EntryName, domain: TrustDomain) =>
  `${domain} ${tool}/${key}/${project}`;

export function openCaches(parts: {
  readonly db: Db;
  /** A caller that writes into the caches of a project may write to its store. */
  readonly storeOf: (project: string) => Pick<ProjectStore, "blobs" | "unnamed">;
  readonly treesOf: (project: string) => OutputTrees;
  /** Gets each hit and miss. */
  readonly use?: Pick<CacheUse, "count">;
  readonly clock: Clock;
  readonly logger: Logger;
}): Caches {
  const { db, storeOf, treesOf, clock, logger } = parts;
  const blobsOf = (project: string) => storeOf(project).blobs;

  const finding = coalescer<EntryQuery, CacheEntry | undefined>(async (queries) => {
    const entries = await entriesNamed(db, queries);
    const found = new Map(entries.map((each) => [nameKey(each, each.reader), each]));
    return queries.map((query) => found.get(nameKey(query, query.reader)));
  });

  const keeping = coalescer<NewCacheEntry, void>(async (entries) => {
    // Of two entries with the same name and domain in a batch, the last one is stored.
    const last = new Map(entries.map((each) => [nameKey(each, each.domain), each]));
    await replaceEntries(db, [...last.values()]);
    return entries.map(() => undefined);
  });

  const touching = coalescer<CacheEntry, void>(async (entries) => {
    await touchEntries(db, entries);
    return entries.map(() => undefined);
  });

  const find = (query: EntryQuery) => finding.add(query);

  const forgetting = coalescer<CacheEntry, void>(async (entries) => {
    for (const entry of entries) await forgetGone(db, blobsOf(entry.project), entry);
    return entries.map(() => undefined);
  });

  /** Forgets an unreadable value, which is a miss; in the background, because the client need not wait for it. */
  function forget(entry: CacheEntry): void {
    forgetting
      .add(entry)
      .catch((err: unknown) =>
        logger.warn(
          { err, entry: nameKey(entry, entry.domain) },
          "an entry without a blob could not be forgotten",
        ),
      );
  }

  async function valueOf(entry: CacheEntry, lookup: ValueLookup): Promise<Value | undefined> {
    const blobs = blobsOf(entry.project);
    const value = await blobValue(blobs, entry.digest, lookup);
    if (value === undefined) forget(entry);
    else if (clock.now().getTime() - entry.lastUsedAt.getTime() > touchAfterMs) {
      // Also marks the blob as used, because reading it does not do that.
      Promise.all([touching.add(entry), blobs.findMissing([entry.digest])]).catch((err: unknown) =>
        logger.warn({ err }, "the use of an entry was not noted"),
      );
    }
    return value;
  }

  const results = { db, treesOf, find, valueOf, mostResultBytes: inOnePiece };

  return {
    counter: cacheCounter(parts.use),
    find,
    findMany: (queries) => (queries.length === 0 ? Promise.resolve([]) : entriesNamed(db, queries)),
    valueOf,
    blobWith: (project, hash) => storeOf(project).unnamed.withHash(hash),
    blobValue: (project, digest, lookup) => blobValue(blobsOf(project), digest, lookup),
    actionResult: (query, hash, lookup) => resultUnder(results, query, hash, lookup),
    resultPutFor: (project, action, reader) => resultPutFor(results, project, action, reader),

    async take(project, chunks) {
      const { blobs, unnamed } = storeOf(project);
      const { head, rest } = await upTo(inOnePiece, chunks);
      if (rest !== undefined) return unnamed.take(rest);
      const digest = digestOf(head);
      await blobs.put(digest, head);
      return digest;
    },
    takeAs: (project, digest, chunks) => blobsOf(project).write(digest, chunks),

    async keep(entry, again) {
      if (again === "refuse") return addOnce(db, blobsOf(entry.project), find, entry);
      await keeping.add(entry);
      return "kept";
    },

    remove: (name, domain) => removeEntry(db, name, domain),

    async stop() {
      await Promise.all([finding.idle(), keeping.idle(), touching.idle(), forgetting.idle()]);
    },
  };
}

/** Adds an entry, unless its domain has one whose blob is present. */
async function addOnce(
  db: Db,
  blobs: ProjectStore["blobs"],
  find: (query: EntryQuery) => Promise<CacheEntry | undefined>,
  entry: NewCacheEntry,
): Promise<"kept" | "refused"> {
  if (await addEntry(db, entry)) return "kept";
  const first = await find({ ...entry, reader: entry.domain });
  // The client looked before it wrote: an entry of `protected` came in between.
  if (first !== undefined) {
    const gone = await blobs.findMissing([first.digest]);
    if (gone.length === 0) return "refused";
    await forgetGone(db, blobs, first);
  }
  return (await addEntry(db, entry)) ? "kept" : "refused";
}

/** Returns all chunks in one piece when they are small, otherwise as a stream. */
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
