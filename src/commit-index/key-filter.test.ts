import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addToFilter, keyFilterBuilder, readKeyFilter } from "./key-filter.ts";
import type { ResultKey } from "./result-key.ts";

const keyOf = (at: number | string): ResultKey => ({ namespace: "ccache", key: `key ${at}` });
const keys = Array.from({ length: 20_000 }, (_, at) => keyOf(at));

function filterOf(some: readonly ResultKey[]) {
  const builder = keyFilterBuilder();
  for (const key of some) builder.add(key);
  const filter = builder.finish();
  if (filter === undefined) throw new Error(`${some.length} are not too many`);
  return filter;
}

test("contains all added keys, and one in a hundred others", () => {
  const filter = filterOf(keys);

  const has = readKeyFilter(filter);

  expect(keys.every(has)).toBe(true);
  const wrong = keys.filter(({ key }) => has(keyOf(`not ${key}`))).length / keys.length;
  expect(wrong).toBeLessThan(0.015);
  expect(filter.bits.length).toBeLessThan(24_100);
});

test("follows the protocol, so that other programs can read it", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 300 }), (key, bytes) => {
      const hash = createHash("sha256").update(`nx\0${key}`).digest();
      const [first, next] = [hash.readBigUInt64BE(0), hash.readBigUInt64BE(8)];
      const bits = new Uint8Array(bytes);
      for (let i = 0n; i < 32n; i++) {
        const bit = Number(((first + i * next) % 2n ** 64n) % BigInt(bytes * 8));
        bits[bit >> 3] = (bits[bit >> 3] ?? 0) | (1 << (bit & 7));
      }
      const has = readKeyFilter({ bits, hashes: 32 });
      expect(has({ namespace: "nx", key })).toBe(true);
      // The filter checks each of these bits: without any one of them, the key is not found.
      const at = bits.findIndex((byte) => byte !== 0);
      bits[at] = 0;
      expect(has({ namespace: "nx", key })).toBe(false);
    }),
  );
});

test("an empty filter contains nothing", () => {
  const has = readKeyFilter(filterOf([]));

  expect(has(keyOf(1))).toBe(false);
});

test("keys can be added to an existing filter, which reports its new share of set bits", () => {
  const [first, more] = [keys.slice(0, 10_000), keys.slice(10_000, 11_000)];
  const filter = filterOf(first);

  const share = addToFilter(filter, more);

  expect([...first, ...more].every(readKeyFilter(filter))).toBe(true);
  expect(share).toBeGreaterThan(0.02);
  expect(share).toBeLessThan(0.05);
  expect(addToFilter(filter, [...first, ...more])).toBe(0);
});

test("there is no filter for more keys than one mebibyte can distinguish", () => {
  const builder = keyFilterBuilder();
  const one = keyOf(1);
  let added = 0;
  while (added < 2_000_000 && builder.add(one)) added++;

  expect(added).toBe(875_180);
  expect(builder.finish()).toBeUndefined();
});

test.each([
  ["no bits", { bits: new Uint8Array(), hashes: 7 }],
  ["too many bits", { bits: new Uint8Array(4 * 1024 * 1024 + 1), hashes: 7 }],
  ["no hashes", { bits: new Uint8Array(8), hashes: 0 }],
  ["33 hashes", { bits: new Uint8Array(8), hashes: 33 }],
])("a filter with %s is refused", (_, filter) => {
  expect(() => readKeyFilter(filter)).toThrow(
    expect.objectContaining({ code: "invalid_argument" }),
  );
});
