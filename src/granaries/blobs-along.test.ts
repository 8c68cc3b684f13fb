import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { digestKey } from "#core/digest.ts";
import { blobsAlong } from "./blobs-along.ts";

const bytesOf = (length: number, letter: string) => Buffer.from(letter.repeat(length));

/** Returns the blobs that are sent along, for results given as sizes of their blobs; each letter is a blob. */
async function cameOf(results: readonly Record<string, number>[], wantedBytes: number) {
  const kept = new Map<string, Uint8Array>();
  const letters = new Map<string, string>();
  const asked = results.map((sizes) => {
    const [value, ...blobs] = Object.entries(sizes).map(([letter, size]) => {
      const bytes = bytesOf(size, letter);
      kept.set(digestKey(digestOf(bytes)), bytes);
      letters.set(digestKey(digestOf(bytes)), letter);
      return digestOf(bytes);
    });
    return { value: value ?? digestOf(Buffer.alloc(0)), blobs, bytes: undefined };
  });
  const came = await blobsAlong(
    { get: async (digest) => kept.get(digestKey(digest)) },
    asked,
    wantedBytes,
  );
  for (const { digest, data } of came) expect(data).toEqual(kept.get(digestKey(digest)));
  return came.map(({ digest }) => letters.get(digestKey(digest))).join("");
}

test("the blobs of the first results are sent along, each once", async () => {
  expect(
    await cameOf(
      [
        { a: 10, b: 20 },
        { a: 10, c: 5 },
      ],
      35,
    ),
  ).toBe("abc");
});

test("a result's blobs are sent all or none, and a later result may fit", async () => {
  expect(await cameOf([{ a: 10, b: 20 }, { c: 5 }], 29)).toBe("c");
  expect(await cameOf([{ a: 10, b: 65_537 }, { c: 65_536 }], 1_000_000)).toBe("c");
});

test("an answer never exceeds its limit, whatever is requested", async () => {
  const letters = ["a", "b", "c", "d", "e", "f"];
  const all = letters.map((letter) => ({ [letter]: 60_000 }));
  expect(await cameOf(all, 4_000_000_000)).toBe("abcd");
});

test("a value that is a row is not read as a blob", async () => {
  const bytes = Buffer.from("row");
  const result = { value: digestOf(bytes), blobs: [], bytes };
  const came = await blobsAlong({ get: async () => undefined }, [result], 100);
  expect(came).toEqual([{ digest: digestOf(bytes), data: bytes }]);
});
