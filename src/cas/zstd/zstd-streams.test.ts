import { decompress } from "@bokuweb/zstd-wasm";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { zstdInWebAssembly } from "./zstd-frame.ts";
import { unzstd, unzstdWhole, zstd, zstdWhole } from "./zstd-streams.ts";

beforeAll(() => zstdInWebAssembly());

async function* chunksOf(bytes: Uint8Array, sizes: readonly number[]) {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  if (at < bytes.byteLength) yield bytes.subarray(at);
}

async function all(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

test("what is packed in any chunks is unpacked from any others", async () => {
  const sizes = fc.array(fc.nat(100_000), { maxLength: 10 });
  const bytes = fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 500 }), fc.nat(2_000))
    .map(([seed, times]) => Buffer.alloc(seed.byteLength * times, seed));
  await fc.assert(
    fc.asyncProperty(bytes, sizes, sizes, async (whole, before, after) => {
      const packed = await all(zstd(chunksOf(whole, before)));
      const unpacked = await all(unzstd(chunksOf(packed, after), whole.byteLength));

      expect(unpacked.equals(whole)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("the reference decoder reads what we pack", async () => {
  const bytes = Buffer.alloc(200_000, "all work and no play ");

  expect(Buffer.from(decompress(await zstdWhole(bytes))).equals(bytes)).toBe(true);
});

test("nothing at all is a frame, too", async () => {
  const packed = await all(zstd(chunksOf(new Uint8Array(), [])));

  expect(packed.byteLength).toBeGreaterThan(0);
  expect((await unzstdWhole(packed, 0)).byteLength).toBe(0);
});

test("frames stand for themselves, so that one chunk is in memory at a time", async () => {
  const bytes = Buffer.alloc(1_000_000, "x");
  const frames: Uint8Array[] = [];
  for await (const frame of zstd(chunksOf(bytes, [1]))) frames.push(frame);

  expect(frames.length).toBe(4);
  const sizes = await Promise.all(
    frames.map(async (each) => (await unzstdWhole(each, 262_144)).byteLength),
  );
  expect(sizes).toEqual([262_144, 262_144, 262_144, 213_568]);
});
