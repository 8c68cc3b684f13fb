import { describe, expect, test } from "vitest";
import { batchesAtOnce, type Capacity, makeBatches, type WaitingItem } from "./make-batches.ts";

const room = (some: Partial<Capacity>): Capacity => ({
  underWay: 0,
  running: 0,
  idle: 4,
  min: 1,
  max: 10,
  budgetMs: 60_000,
  ...some,
});

const waiting = (...estimates: readonly number[]): WaitingItem[] =>
  estimates.map((estimateMs, n) => ({ item: `i${n}`, estimateMs, again: null }));

test.each([
  { about: "as many as are idle", running: 0, idle: 4, expected: 4 },
  { about: "those that run, and those that are idle", running: 3, idle: 2, expected: 5 },
  { about: "at least min, though all are busy", running: 0, idle: 0, expected: 2 },
  { about: "at most max, however many are idle", running: 5, idle: 500, expected: 6 },
])("there are $expected batches at once: $about", ({ running, idle, expected }) => {
  expect(batchesAtOnce(room({ running, idle, min: 2, max: 6 }))).toBe(expected);
});

describe("a batch", () => {
  test("begins with the largest item, and is filled with those that fit", () => {
    const [first] = makeBatches(waiting(10, 100, 20, 30), room({ idle: 1, budgetMs: 130 }));

    // 160 ms are left for one worker: a batch takes half of them, and the largest item fills it
    // alone.
    expect(first).toEqual(["i1"]);
  });

  test("takes no longer than the budget, except with an item that is longer itself", () => {
    const batches = makeBatches(waiting(500, 40, 40, 40, 40), room({ idle: 2, budgetMs: 80 }));

    expect(batches).toEqual([["i0"], ["i1"]]);
  });

  test("becomes smaller towards the end", () => {
    let rest = waiting(...Array.from({ length: 64 }, () => 10));
    const sizes: number[] = [];
    while (rest.length > 0) {
      const [batch = []] = makeBatches(rest, room({ idle: 1 }));
      sizes.push(batch.length);
      rest = rest.filter(({ item }) => !batch.includes(item));
    }

    expect(sizes).toEqual([32, 16, 8, 4, 2, 1, 1]);
  });

  test("that is retried has exactly its items, and comes first", () => {
    const again = ["a", "b"].map((item) => ({ item, estimateMs: 1, again: 14 }));
    const alone = { item: "c", estimateMs: 1, again: 15 };

    const batches = makeBatches([...waiting(100), alone, ...again], room({ idle: 3 }));

    expect(batches).toEqual([["a", "b"], ["c"], ["i0"]]);
  });
});

test("for any items and idle workers, nothing is in two batches, and the allowed number is not exceeded", () => {
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let n = 0; n < 500; n++) {
    const items = Array.from({ length: random(60) }, (_, i) => ({
      item: `i${i}`,
      estimateMs: random(1_000),
      again: random(4) === 0 ? random(6) : null,
    }));
    const min = 1 + random(5);
    const max = min + random(8);
    const underWay = random(max + 1);
    const asked = { underWay, running: random(underWay + 1), idle: random(20), min, max };

    const batches = makeBatches(items, room({ ...asked, budgetMs: 1 + random(3_000) }));

    const inBatches = batches.flat();
    expect(new Set(inBatches).size).toBe(inBatches.length);
    expect(batches.every((batch) => batch.length > 0)).toBe(true);
    expect(underWay + batches.length).toBeLessThanOrEqual(Math.max(max, underWay));
    // When there is work and it is allowed, some batch must begin.
    const mustBegin = items.length > 0 && underWay < min;
    expect(mustBegin && batches.length === 0).toBe(false);
  }
});
