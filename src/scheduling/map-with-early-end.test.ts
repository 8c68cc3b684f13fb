import { expect, test } from "vitest";
import { mapWithEarlyEnd } from "./map-with-early-end.ts";

test("begins further calls while calls that ended early still wait", async () => {
  const items = [1, 2, 3, 4, 5, 6, 7];
  let begun = 0;
  let release = () => {};
  const allBegun = new Promise<void>((resolve) => {
    release = resolve;
  });

  const doubled = await mapWithEarlyEnd(2, items, async (n, endEarly) => {
    if (++begun === items.length) release();
    endEarly();
    await allBegun;
    return n * 2;
  });

  expect(doubled).toEqual([2, 4, 6, 8, 10, 12, 14]);
});

test("never has more calls than the limit that have not ended early", async () => {
  let under = 0;
  let most = 0;

  await mapWithEarlyEnd(3, [1, 2, 3, 4, 5, 6, 7], async (n, endEarly) => {
    most = Math.max(most, ++under);
    await Promise.resolve();
    under--;
    if (n % 2 === 0) endEarly();
  });

  expect(most).toBe(3);
});

test("a failure after an early end fails all, once no call runs any more", async () => {
  let ended = 0;

  const mapping = mapWithEarlyEnd(1, [1, 2, 3], async (n, endEarly) => {
    endEarly();
    if (n === 1) throw new Error("the first failed");
    await new Promise(setImmediate);
    ended++;
  });

  await expect(mapping).rejects.toThrow("the first failed");
  expect(ended).toBe(2);
});
