import fc from "fast-check";
import { expect, test } from "vitest";
import { byteReader } from "./byte-reader.ts";

/** The bytes in chunks of these sizes, then the rest. */
async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const size of sizes) {
    if (size > 0 && at < bytes.length) yield bytes.subarray(at, at + size);
    at += size;
  }
  if (at < bytes.length) yield bytes.subarray(at);
}

test("reads lines and counted bytes, for any division into chunks", async () => {
  const records = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(records, fc.array(fc.nat(9)), async (bodies, sizes) => {
      const text = bodies.flatMap((body) => [Buffer.from(`${body.length}\n`), body]);
      const reader = byteReader(cut(Buffer.concat(text), sizes));

      for (const [i, body] of bodies.entries()) {
        expect(await reader.line()).toBe(String(body.length));
        const read =
          i % 2 === 0 ? await reader.take(body.length) : await all(reader.stream(body.length));
        expect(read).toEqual(Buffer.from(body));
      }
      expect(await reader.line()).toBeUndefined();
    }),
  );
});

test("a stream that ends early is data loss", async () => {
  const reader = byteReader(cut(Buffer.from("abc"), []));

  await expect(reader.take(4)).rejects.toMatchObject({ code: "data_loss" });
});

async function all(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of chunks) parts.push(part);
  return Buffer.concat(parts);
}
