import fc from "fast-check";
import { expect, test } from "vitest";
import { batchesOf } from "./batches-of.ts";

const bounds = { most: 4, mostWeight: 10, weigh: (n: number) => n };

async function* from(numbers: readonly number[], end?: Error) {
  yield* numbers;
  if (end !== undefined) throw end;
}

test("all come, in order, in batches that are not too large", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 })), async (numbers) => {
      const batches: number[][] = [];
      for await (const batch of batchesOf(from(numbers), bounds)) batches.push(batch);

      expect(batches.flat()).toEqual(numbers);
      for (const batch of batches) {
        expect(batch.length).toBeLessThanOrEqual(4);
        // Only the last message may exceed the limit.
        expect(batch.slice(0, -1).reduce((sum, n) => sum + n, 0)).toBeLessThan(10);
      }
    }),
  );
});

test("a batch does not wait for what is not there", async () => {
  let give: () => void = () => {};
  const later = new Promise<void>((resolve) => {
    give = resolve;
  });
  async function* slowly() {
    yield 1;
    await later;
    yield 2;
  }
  const batches = batchesOf(slowly(), bounds);

  expect((await batches.next()).value).toEqual([1]);
  give();
  expect((await batches.next()).value).toEqual([2]);
  expect((await batches.next()).done).toBe(true);
});

test("what came before a failure is dealt with before the failure is", async () => {
  const batches = batchesOf(from([1, 2], new Error("cut")), bounds);

  expect((await batches.next()).value).toEqual([1, 2]);
  await expect(batches.next()).rejects.toThrow("cut");
});

test("who stops in the middle does not wait for what comes next", async () => {
  async function* silent() {
    yield 1;
    await new Promise(() => {});
  }
  const batches = batchesOf(silent(), bounds);
  await batches.next();

  expect(await batches.return()).toEqual({ done: true, value: undefined });
});
