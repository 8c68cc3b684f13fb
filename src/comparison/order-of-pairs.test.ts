import { expect, test } from "vitest";
import { isParentFirst } from "./order-of-pairs.ts";

const orders = (seed: string, count: number) =>
  Array.from({ length: count }, (_, i) => isParentFirst(seed, i + 1));

test("of each ten pairs five begin with the parent", () => {
  for (let seed = 0; seed < 50; seed++) {
    const drawn = orders(`${seed}`, 40);
    for (let i = 0; i < 40; i += 10)
      expect(drawn.slice(i, i + 10).filter((parentFirst) => parentFirst)).toHaveLength(5);
  }
});

test("the same seed gives the same order, and a rerun uses another order", () => {
  expect(orders("first run", 20)).toEqual(orders("first run", 20));
  expect(orders("first run", 20)).not.toEqual(orders("its rerun", 20));
});

test("neighbouring pairs have the same order no more often than by chance", () => {
  const seeds = 4_000;
  const alike = (lag: number) =>
    Array.from({ length: seeds }, (_, seed) => orders(`${seed}`, 20)).filter(
      (drawn) => drawn[3] === drawn[3 + lag],
    ).length / seeds;
  // Within a block of ten, the other four of nine agree; across two blocks, half.
  expect(Math.abs(alike(1) - 4 / 9)).toBeLessThan(0.04);
  expect(Math.abs(alike(4) - 4 / 9)).toBeLessThan(0.04);
  expect(Math.abs(alike(10) - 0.5)).toBeLessThan(0.04);
});
