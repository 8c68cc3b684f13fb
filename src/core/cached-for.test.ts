import { expect, test } from "vitest";
import { cachedFor } from "./cached-for.ts";

function counted(fails: readonly number[] = []) {
  let now = 0;
  let made = 0;
  const ask = cachedFor(
    100,
    () => now,
    async () => {
      made += 1;
      if (fails.includes(made)) throw new Error(`failure ${made}`);
      return made;
    },
  );
  return {
    ask,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test("who asks within the time gets the same answer", async () => {
  const { ask, pass } = counted();

  const first = await Promise.all([ask(), ask()]);
  pass(99);
  const second = await ask();
  pass(1);
  const third = await ask();

  expect([first, second, third]).toEqual([[1, 1], 1, 2]);
});

test("a failure is told to those who wait for it, and not kept", async () => {
  const { ask } = counted([1]);

  await expect(ask()).rejects.toThrow("failure 1");

  expect(await ask()).toBe(2);
});
