import { expect, test } from "vitest";
import { mapAtMost } from "./map-at-most.ts";

test("maps in order, and never more at once than the limit", async () => {
  let under = 0;
  let most = 0;

  const doubled = await mapAtMost(3, [1, 2, 3, 4, 5, 6, 7], async (n) => {
    most = Math.max(most, ++under);
    await Promise.resolve();
    under--;
    return n * 2;
  });

  expect(doubled).toEqual([2, 4, 6, 8, 10, 12, 14]);
  expect(most).toBe(3);
});

test("begins nothing after a failure, and waits for what was under way", async () => {
  const begun: number[] = [];
  let ended = 0;

  const mapping = mapAtMost(2, [1, 2, 3, 4], async (n) => {
    begun.push(n);
    if (n === 1) throw new Error("the first failed");
    await new Promise(setImmediate);
    ended++;
  });

  await expect(mapping).rejects.toThrow("the first failed");
  expect(begun).toEqual([1, 2]);
  expect(ended).toBe(1);
});
