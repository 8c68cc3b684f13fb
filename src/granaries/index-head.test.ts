import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import type { Digest } from "#core/digest.ts";
import { entryOf, toolResult } from "./farm-of-granaries.fixture.ts";
import { indexHead } from "./index-head.ts";

const sized = (name: string, sizeBytes: number): Digest => ({
  ...digestOf(Buffer.from(name)),
  sizeBytes,
});

function indexOf(entries: readonly IndexEntry[], base?: Digest) {
  const data = encodeIndex({ base, entries, removed: [] });
  return { digest: digestOf(data), data };
}

const entry = (key: string, firstMs: number, sizeBytes: number, shared?: Digest) =>
  entryOf(toolResult(key, sized(key, sizeBytes), { blobs: shared ? [shared] : [] }), firstMs);

/** Keys of results, and sizes of blobs. */
async function headOf(index: ReturnType<typeof indexOf>, mostBytes: number, along = [index]) {
  const items = await indexHead(index.digest, along, mostBytes);
  return items.map(({ item }) =>
    item.case === "result" ? item.value.key : Number(item.value?.sizeBytes),
  );
}

test("contains the first requests, each result followed by its blobs", async () => {
  const index = indexOf([entry("b", 20, 200), entry("c", 30, 300), entry("a", 10, 100)]);

  expect(await headOf(index, 100_000)).toEqual(["a", 100, "b", 200, "c", 300]);
});

test("counts shared blobs once, and leaves out items that do not fit", async () => {
  const shared = sized("shared", 5_000);
  const index = indexOf([
    entry("a", 1, 100, shared),
    entry("large", 2, 9_000),
    entry("b", 3, 200, shared),
    entry("c", 4, 6_000),
  ]);

  expect(await headOf(index, 8_000)).toEqual(["a", 100, 5_000, "b", 200]);
});

test("is limited, whatever is requested", async () => {
  const index = indexOf(Array.from({ length: 100 }, (_, n) => entry(`k${n}`, n, 10_000)));

  expect((await headOf(index, 1e9)).length).toBe(2 * 12);
});

test("includes entries of a base, and is empty for an index that is absent or invalid", async () => {
  const base = indexOf([entry("a", 10, 100)]);
  const index = indexOf([entry("b", 5, 50)], base.digest);
  const nonsense = { digest: index.digest, data: Buffer.from("nonsense") };

  expect(await headOf(index, 1_000, [index, base])).toEqual(["b", 50, "a", 100]);
  expect(await headOf(index, 1_000, [index])).toEqual([]);
  expect(await headOf(index, 1_000, [nonsense])).toEqual([]);
});
