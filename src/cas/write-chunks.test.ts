import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeChunks } from "./write-chunks.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-write-chunks-"));
});
afterAll(() => rm(directory, { recursive: true }));

async function* inChunks(bytes: Buffer, size: number, end?: Error) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  if (end !== undefined) throw end;
}

const sizes: readonly (readonly [string, number, number])[] = [
  ["nothing", 0, 1],
  ["one byte", 1, 1],
  ["less than is written at once", 100_000, 65_536],
  ["as much as is written at once", 1024 * 1024, 65_536],
  ["much more", 5_000_001, 65_537],
  ["one large piece", 3_000_000, 3_000_000],
];

test.each(sizes)("writes %s", async (_, size, chunk) => {
  const bytes = Buffer.alloc(size, "the quick brown fox ");
  const path = join(directory, `${size}-${chunk}`);
  const file = await open(path, "w");

  await writeChunks(file, inChunks(bytes, chunk));
  await file.close();

  expect((await readFile(path)).equals(bytes)).toBe(true);
});

test.each(sizes)("has written %s when the chunks fail", async (_, size, chunk) => {
  const bytes = Buffer.alloc(size, "the quick brown fox ");
  const path = join(directory, `${size}-${chunk}`);
  const file = await open(path, "w");

  const writing = writeChunks(file, inChunks(bytes, chunk, new Error("the line is dead")));

  await expect(writing).rejects.toThrow("the line is dead");
  await file.close();
  expect((await readFile(path)).equals(bytes)).toBe(true);
});

test("goes on where a write has stopped short, wherever that is", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 60 }),
      async (chunks, most) => {
        const written: Buffer[] = [];
        const file = {
          writev: async (buffers: readonly NodeJS.ArrayBufferView[]) => {
            const part = Buffer.concat(buffers as Uint8Array[]).subarray(0, most);
            written.push(Buffer.from(part));
            return { bytesWritten: part.byteLength, buffers: [] };
          },
        };

        await writeChunks(
          file as never,
          (async function* () {
            yield* chunks;
          })(),
        );

        expect(Buffer.concat(written)).toEqual(Buffer.concat(chunks));
      },
    ),
  ));

test("a write that fails fails the whole, and none is under way afterwards", async () => {
  let underWay = 0;
  const file = {
    writev: async () => {
      underWay++;
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      throw new Error("the disk is full");
    },
  };

  const writing = writeChunks(file, inChunks(Buffer.alloc(9_000_000), 65_536));

  await expect(writing).rejects.toThrow("the disk is full");
  expect(underWay).toBe(0);
});
