import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { entriesNamed, replaceEntries } from "./cache-entry.store.ts";
import { forgetGone } from "./forget-gone.ts";
import type { CacheEntry } from "./tool-rules.ts";

const db = await freshDb();
afterAll(() => db.close());

const bytes = randomBytes(20);
const digest = digestOf(bytes);

async function entryOf(key: string): Promise<CacheEntry> {
  const name = { project: "p", tool: "gradle" as const, key };
  await replaceEntries(db, [
    { ...name, domain: protectedDomain, digest, attributes: {}, principal: "ada" },
  ]);
  const [entry] = await entriesNamed(db, [{ ...name, reader: protectedDomain }]);
  if (entry === undefined) throw new Error("it is not kept");
  return entry;
}

test("an entry whose blob is gone is forgotten", async () => {
  const entry = await entryOf("gone");

  await forgetGone(db, memoryBlobStore(), entry);

  expect(await entriesNamed(db, [{ ...entry, reader: protectedDomain }])).toEqual([]);
});

test("one whose bytes came back since stays: its writer was told that it is kept", async () => {
  const entry = await entryOf("again");
  const blobs = memoryBlobStore();
  await blobs.put(digest, bytes);

  await forgetGone(db, blobs, await entryOf("again"));

  expect(await entriesNamed(db, [{ ...entry, reader: protectedDomain }])).toEqual([
    { ...entry, reader: protectedDomain },
  ]);
});

test("one that is written in the midst of it stays, too", async () => {
  const entry = await entryOf("meanwhile");
  const blobs = memoryBlobStore();
  let written: Promise<unknown> = Promise.resolve();

  await forgetGone(
    db,
    {
      async findMissing(digests) {
        const missing = await blobs.findMissing(digests);
        await blobs.put(digest, bytes);
        written = entryOf("meanwhile");
        return missing;
      },
    },
    entry,
  );
  await written;

  expect(await entriesNamed(db, [{ ...entry, reader: protectedDomain }])).toHaveLength(1);
});
