import { expect, test } from "vitest";
import { mapInTurns, partsOf } from "./turns.ts";

test("others have their turn during a long piece of work", async () => {
  let others = 0;
  const counting = setInterval(() => others++, 1);
  const before = performance.now();
  const made = await mapInTurns(Array(60).keys(), (i) => {
    while (performance.now() < before + 2 * i);
    return i;
  });
  clearInterval(counting);
  expect(made).toHaveLength(60);
  expect(others).toBeGreaterThan(0);
});

test("a list is divided into parts", () => {
  expect(partsOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(partsOf([], 2)).toEqual([]);
});
