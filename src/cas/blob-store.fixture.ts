import { createHash, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Digest, digestFrom, digestFunctions, emptyDigest, emptyDigestBy } from "#core/digest.ts";
import type { BlobStore, ByteRange } from "./blob-store.ts";

/**
 * Tests of the behaviour that every store and every layer over one must have. `open` gives an empty store for each
 * test.
 */
export function describeBlobStore(name: string, open: () => Promise<BlobStore> | BlobStore): void {
  describe(`${name} is a blob store`, () => {
    const hello = blob(Buffer.from("hello, blob"));
    const large = blob(randomBytes(1_500_000));

    test("gives back what was put, as a whole and as a stream", async () => {
      const store = await open();

      await store.put(hello.digest, hello.bytes);

      expect(Buffer.from((await store.get(hello.digest)) ?? [])).toEqual(hello.bytes);
      expect(await readAll(store, hello.digest)).toEqual(hello.bytes);
    });

    test("gives back what was written in chunks", async () => {
      const store = await open();

      await store.write(large.digest, cut(large.bytes, 65_537));

      expect((await readAll(store, large.digest))?.equals(large.bytes)).toBe(true);
      expect(Buffer.from((await store.get(large.digest)) ?? []).equals(large.bytes)).toBe(true);
    });

    test("has no blob that was not put", async () => {
      const store = await open();

      expect(await store.get(hello.digest)).toBeUndefined();
      expect(await store.read(hello.digest)).toBeUndefined();
      expect(await store.read(hello.digest, { offset: 1 })).toBeUndefined();
    });

    test("names each missing digest once", async () => {
      const store = await open();
      await store.put(hello.digest, hello.bytes);

      const missing = await store.findMissing([large.digest, hello.digest, large.digest]);

      expect(missing).toEqual([large.digest]);
    });

    test("always has the empty blob", async () => {
      const store = await open();

      expect(await store.findMissing([emptyDigest])).toEqual([]);
      expect(await store.get(emptyDigest)).toHaveLength(0);
      expect(await readAll(store, emptyDigest)).toHaveLength(0);
      await store.put(emptyDigest, new Uint8Array());
      await store.write(emptyDigest, cut(Buffer.alloc(0), 1));
    });

    test("keeps blobs by each function, and checks them by it", async () => {
      const store = await open();
      for (const name of ["sha1", "sha384", "sha512", "md5"] as const) {
        const { length } = hello.bytes;
        const hex = createHash(name).update(hello.bytes).digest("hex");
        const [digest, wrong] = [hex, `${hex.slice(1)}0`].map((h) => digestFrom(name, h, length));
        if (digest === undefined || wrong === undefined) throw new Error("unreachable");

        await store.put(digest, hello.bytes);

        expect(Buffer.from((await store.get(digest)) ?? [])).toEqual(hello.bytes);
        expect(await readAll(store, digest, { offset: 7 })).toEqual(hello.bytes.subarray(7));
        await expect(store.put(wrong, hello.bytes)).rejects.toMatchObject(invalid);
        await expect(store.write(wrong, cut(hello.bytes, 5))).rejects.toMatchObject(invalid);
        expect(await store.findMissing([hello.digest, digest, wrong])).toEqual([
          hello.digest,
          wrong,
        ]);
      }
    });

    test("keeps a blob by BLAKE3, and checks it", async () => {
      const store = await open();
      const hex = "d74981efa70a0c880b8d8c1985d075dbcbf679b99a5f9914e5aaf96b831a9e24";
      const bytes = Buffer.from("hello world");
      const digest = digestFrom("blake3", hex, bytes.length);

      await store.write(digest, cut(bytes, 3));

      expect(await readAll(store, digest)).toEqual(bytes);
      // 64 digits without a name are SHA-256.
      const unnamed = digestFrom("sha256", hex, bytes.length);
      expect(await store.findMissing([unnamed])).toEqual([unnamed]);
      await expect(store.put(unnamed, bytes)).rejects.toMatchObject(invalid);
    });

    test("has the empty blob by each function", async () => {
      const store = await open();
      const all = digestFunctions.map(emptyDigestBy);

      expect(await store.findMissing(all)).toEqual([]);
      for (const digest of all) {
        expect(await store.get(digest)).toHaveLength(0);
        expect(await readAll(store, digest)).toHaveLength(0);
        await store.put(digest, new Uint8Array());
      }
    });

    test("does not take any digest of size 0 for the empty one", async () => {
      const store = await open();
      const impostor = Digest.parse({ hash: hello.digest.hash, sizeBytes: 0 });

      expect(await store.findMissing([impostor])).toEqual([impostor]);
      expect(await store.get(impostor)).toBeUndefined();
      await expect(store.put(impostor, new Uint8Array())).rejects.toMatchObject(invalid);
    });

    test("does not know a blob under its hash and another size", async () => {
      const store = await open();
      await store.put(hello.digest, hello.bytes);
      const other = Digest.parse({ hash: hello.digest.hash, sizeBytes: hello.bytes.length + 1 });

      expect(await store.get(other)).toBeUndefined();
      expect(await store.findMissing([other])).toEqual([other]);
    });

    test.each<[string, Buffer]>([
      ["other bytes of the same size", Buffer.from("HELLO, BLOB")],
      ["bytes that end early", Buffer.from("hello")],
      ["bytes that go on", Buffer.from("hello, blob!")],
      ["no bytes", Buffer.alloc(0)],
    ])("refuses %s, and keeps nothing", async (_, wrong) => {
      const store = await open();

      await expect(store.put(hello.digest, wrong)).rejects.toMatchObject(invalid);
      await expect(store.write(hello.digest, cut(wrong, 4))).rejects.toMatchObject(invalid);

      expect(await store.findMissing([hello.digest])).toEqual([hello.digest]);
      expect(await store.get(hello.digest)).toBeUndefined();
    });

    test("refuses wrong bytes for a blob that it has, and still has it", async () => {
      const store = await open();
      await store.put(hello.digest, hello.bytes);
      const wrong = Buffer.from("HELLO, BLOB");

      await expect(store.put(hello.digest, wrong)).rejects.toMatchObject(invalid);
      await expect(store.write(hello.digest, cut(wrong, 4))).rejects.toMatchObject(invalid);

      expect(await readAll(store, hello.digest)).toEqual(hello.bytes);
    });

    test("keeps nothing of a stream that breaks off", async () => {
      const store = await open();
      async function* breaking() {
        yield hello.bytes.subarray(0, 5);
        throw new Error("the line went dead");
      }

      await expect(store.write(hello.digest, breaking())).rejects.toThrow("the line went dead");

      expect(await store.findMissing([hello.digest])).toEqual([hello.digest]);
    });

    test("stops an endless stream soon after the blob's size", async () => {
      const store = await open();
      let given = 0;
      async function* endless() {
        while (true) {
          given++;
          yield Buffer.from("hello");
        }
      }

      await expect(store.write(hello.digest, endless())).rejects.toMatchObject(invalid);

      expect(given).toBeLessThan(10);
    });

    test.each<[ByteRange, string]>([
      [{ offset: 0 }, "hello, blob"],
      [{ offset: 7 }, "blob"],
      [{ offset: 7, limit: 2 }, "bl"],
      [{ offset: 0, limit: 5 }, "hello"],
      [{ offset: 7, limit: 99 }, "blob"],
      [{ offset: 3, limit: 0 }, ""],
      [{ offset: 11 }, ""],
    ])("reads the part %j", async (range, expected) => {
      const store = await open();
      await store.put(hello.digest, hello.bytes);

      expect(String(await readAll(store, hello.digest, range))).toBe(expected);
    });

    test.each<ByteRange>([
      { offset: 12 },
      { offset: -1 },
      { offset: 0.5 },
      { offset: Number.NaN },
      { offset: 0, limit: -1 },
    ])("has no part %j", async (range) => {
      const store = await open();
      await store.put(hello.digest, hello.bytes);

      await expect(store.read(hello.digest, range)).rejects.toMatchObject({ code: "out_of_range" });
    });

    test("takes one blob from many writers at once", async () => {
      const store = await open();

      await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          i % 2 === 0
            ? store.put(large.digest, large.bytes)
            : store.write(large.digest, cut(large.bytes, 100_000)),
        ),
      );

      expect((await readAll(store, large.digest))?.equals(large.bytes)).toBe(true);
    });

    test("lets a reader stop early", async () => {
      const store = await open();
      await store.put(large.digest, large.bytes);

      for await (const chunk of (await store.read(large.digest)) ?? []) {
        expect(chunk.byteLength).toBeGreaterThan(0);
        break;
      }

      expect(await store.findMissing([large.digest])).toEqual([]);
    });

    test("is not changed by a caller who writes into the bytes it gave or got", async () => {
      const store = await open();
      const mine = Buffer.from(hello.bytes);
      await store.put(hello.digest, mine);
      mine.fill(0);
      (await store.get(hello.digest))?.fill(0);

      expect(await readAll(store, hello.digest)).toEqual(hello.bytes);
    });
  });
}

const invalid = { name: "Fault", code: "invalid_argument" };

// Computed by the test, not by the code under test.
function blob(bytes: Buffer): { readonly bytes: Buffer; readonly digest: Digest } {
  const hash = createHash("sha256").update(bytes).digest("hex");
  return { bytes, digest: Digest.parse({ hash, sizeBytes: bytes.length }) };
}

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

async function readAll(
  store: BlobStore,
  digest: Digest,
  range?: ByteRange,
): Promise<Buffer | undefined> {
  const chunks = await store.read(digest, range);
  if (chunks === undefined) return undefined;
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
