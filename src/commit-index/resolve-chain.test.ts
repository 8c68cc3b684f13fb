import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { encodeIndex } from "./encode-index.ts";
import { entry } from "./entries.fixture.ts";
import type { IndexEntry } from "./index-entry.ts";
import { resolveChain } from "./resolve-chain.ts";
import type { ResultKey } from "./result-key.ts";

function cache() {
  const blobs = new Map<string, Uint8Array>();
  return {
    blobs,
    read: async (digest: Digest) => blobs.get(digestKey(digest)),
    put(base: Digest | undefined, entries: IndexEntry[], removed: ResultKey[] = []): Digest {
      const bytes = encodeIndex({ base, entries, removed });
      const digest = digestOf(bytes);
      blobs.set(digestKey(digest), bytes);
      return digest;
    },
    chain(length: number): Digest {
      let last: Digest | undefined;
      for (let at = 0; at < length; at++) last = this.put(last, [entry(`key ${at}`)]);
      if (last === undefined) throw new Error("a chain has a link");
      return last;
    },
  };
}

test("an index is its base without the removed entries and with the added and replaced ones", async () => {
  const it = cache();
  const base = it.put(undefined, [entry("unchanged"), entry("gone"), entry("changed", 1)]);
  const index = it.put(base, [entry("changed", 2), entry("new")], [entry("gone")]);

  const resolved = await resolveChain(index, it.read);

  expect(resolved.entries).toEqual([entry("unchanged"), entry("changed", 2), entry("new")]);
  expect(resolved.chain).toBe(2);
});

test("seven bases are read, eight are rejected", async () => {
  const it = cache();

  expect((await resolveChain(it.chain(8), it.read)).entries).toHaveLength(8);
  await expect(resolveChain(it.chain(9), it.read)).rejects.toThrow("more than 7 bases");
});

test("an index whose bases form a cycle is rejected", async () => {
  const name = digestOf(Buffer.from("a store that does not check"));
  const bytes = encodeIndex({ base: name, entries: [], removed: [] });

  await expect(resolveChain(name, async () => bytes)).rejects.toThrow("is its own base");
});

test("a missing base is reported", async () => {
  const it = cache();
  const base = it.put(undefined, [entry("a")]);
  const index = it.put(base, [entry("b")]);
  it.blobs.delete(digestKey(base));

  await expect(resolveChain(index, it.read)).rejects.toThrow(
    expect.objectContaining({
      code: "not_found",
      message: expect.stringContaining(digestKey(base)),
    }),
  );
});

test("an index with a huge declared size is not read", async () => {
  const huge = { ...digestOf(Buffer.from("x")), sizeBytes: 2 ** 40 } as Digest;

  await expect(resolveChain(huge, () => Promise.reject(new Error("it was read")))).rejects.toThrow(
    "larger than",
  );
});
