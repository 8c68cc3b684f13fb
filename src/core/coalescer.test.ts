import { expect, test } from "vitest";
import { coalescer } from "./coalescer.ts";
import { Fault } from "./fault.ts";

function aGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

test("what arrives while a batch is under way goes together with the next", async () => {
  const batches: number[][] = [];
  const [gate, begun] = [aGate(), aGate()];
  const doubling = coalescer(async (items: readonly number[]) => {
    batches.push([...items]);
    begun.open();
    await gate.opened;
    return items.map((item) => item * 2);
  });

  const first = doubling.add(1);
  await begun.opened;
  const rest = [doubling.add(2), doubling.add(3)];
  gate.open();

  expect(await Promise.all([first, ...rest])).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1], [2, 3]]);
});

test("a poisoned item fails alone", async () => {
  const picky = coalescer(async (items: readonly number[]) => {
    if (items.includes(2)) throw new Error("two");
    return items;
  });

  const settled = await Promise.allSettled([1, 2, 3].map((item) => picky.add(item)));

  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("when nothing can be reached, all fail at the first try", async () => {
  let tries = 0;
  const lost = coalescer(async (): Promise<number[]> => {
    tries++;
    throw new Fault("unavailable", "gone");
  });

  await Promise.allSettled([1, 2, 3].map((item) => lost.add(item)));

  expect(tries).toBe(1);
});

test("batches keep to their size", async () => {
  const sizes: number[] = [];
  const counting = coalescer(async (items: readonly number[]) => {
    sizes.push(items.length);
    return items;
  }, 2);

  await Promise.all([1, 2, 3, 4, 5].map((item) => counting.add(item)));

  expect(sizes).toEqual([2, 2, 1]);
});

test("with a shortest time between batches, later items wait for each other; idle does not wait for that time", async () => {
  const batches: number[][] = [];
  const paced = coalescer(
    async (items: readonly number[]) => {
      batches.push([...items]);
      return items;
    },
    1_000,
    60_000,
  );

  await paced.add(1);
  const rest = [paced.add(2), paced.add(3)];
  await new Promise((resolve) => setImmediate(resolve));

  expect(batches).toEqual([[1]]);
  await paced.idle();
  expect(await Promise.all(rest)).toEqual([2, 3]);
  expect(batches).toEqual([[1], [2, 3]]);
});

test("a full batch starts before its time", async () => {
  const sizes: number[] = [];
  const paced = coalescer(
    async (items: readonly number[]) => {
      sizes.push(items.length);
      return items;
    },
    2,
    60_000,
  );

  await paced.add(1);
  await Promise.all([paced.add(2), paced.add(3)]);

  expect(sizes).toEqual([1, 2]);
});
