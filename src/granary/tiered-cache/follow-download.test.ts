import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import { noFarm } from "../farm/no-farm.ts";
import { openCacheWith } from "./tiered-cache.fixture.ts";

const bytes = randomBytes(3_000_000);
const digest = digestOf(bytes);
const half = 1_500_000;
const who = { project: "p", build: undefined };

/** Creates a farm that sends the first half, and then `rest` after `gate`. */
async function before(gate: Promise<void>, rest: Uint8Array = bytes.subarray(half)) {
  let reads = 0;
  const farm: GranaryFarm = {
    ...noFarm(),
    blobs: () => ({
      ...noFarm().blobs("p"),
      async read() {
        reads++;
        return (async function* () {
          for (let at = 0; at < half; at += 100_000) yield bytes.subarray(at, at + 100_000);
          await gate;
          yield rest;
        })();
      },
    }),
  };
  return { ...(await openCacheWith(farm)), reads: () => reads };
}

function gateOf() {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { gate, open: () => open() };
}

/** Reads until so many bytes arrived, or all. */
async function take(chunks: AsyncIterator<Uint8Array>, most = Number.POSITIVE_INFINITY) {
  const parts: Uint8Array[] = [];
  for (let size = 0; size < most; ) {
    const next = await chunks.next();
    if (next.done) break;
    parts.push(next.value);
    size += next.value.byteLength;
  }
  return Buffer.concat(parts);
}

describe("a large blob of the farm", () => {
  test("is returned while it arrives, and is in the store with its last byte", async () => {
    const { gate, open } = gateOf();
    const { tieredCache, store, reads } = await before(gate);
    const reading = (await tieredCache.blobs(who).read(digest))?.[Symbol.asyncIterator]();
    if (reading === undefined) throw new Error("it is at the farm");

    const first = await take(reading, 1_000_000);
    expect(store.hasBlob(digest)).toBe(false);
    const other = tieredCache.blobs(who).get(digest);
    open();
    const rest = await take(reading);

    expect(Buffer.concat([first, rest]).equals(bytes)).toBe(true);
    expect(store.hasBlob(digest)).toBe(true);
    expect(Buffer.from((await other) ?? []).equals(bytes)).toBe(true);
    expect(reads()).toBe(1);
  });

  test.each([
    ["is not what its name says", Buffer.alloc(half, 7)],
    ["is too much", Buffer.alloc(half + 1, 7)],
    ["is cut short", Buffer.alloc(half - 1, 7)],
  ])("that %s breaks off before its end, and is not kept", async (_, rest) => {
    const { tieredCache, store } = await before(Promise.resolve(), rest);
    const reading = (await tieredCache.blobs(who).read(digest))?.[Symbol.asyncIterator]();
    let given = 0;
    const read = async () => {
      for (let next = await reading?.next(); next && !next.done; next = await reading?.next()) {
        given += next.value.byteLength;
      }
    };

    await expect(read()).rejects.toMatchObject({ code: "unavailable" });
    expect(given).toBeLessThan(digest.sizeBytes);
    expect(store.hasBlob(digest)).toBe(false);
  });

  test("is complete and verified before a reader of a part gets the first byte", async () => {
    const { tieredCache, store } = await before(Promise.resolve());
    const part = await tieredCache.blobs(who).read(digest, { offset: 0, limit: 1 });

    expect(store.hasBlob(digest)).toBe(true);
    const [byte] = part === undefined ? [] : await take(part[Symbol.asyncIterator]());
    expect(byte).toBe(bytes[0]);
  });

  test("continues to arrive when the reader stops", async () => {
    const { tieredCache, store } = await before(Promise.resolve());
    const reading = (await tieredCache.blobs(who).read(digest))?.[Symbol.asyncIterator]();
    await reading?.next();
    await reading?.return?.();

    await expect.poll(() => store.hasBlob(digest)).toBe(true);
  });
});
