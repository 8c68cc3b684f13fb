import { expect, test } from "vitest";
import { meanwhile } from "./meanwhile.ts";

function counting() {
  const clock = { ms: 0 };
  const waiting: { resolve: (value: number) => void; reject: (reason: Error) => void }[] = [];
  const ask = meanwhile(
    { ms: 10, mostMs: 100 },
    () => clock.ms,
    () =>
      new Promise<number>((resolve, reject) => {
        waiting.push({ resolve, reject });
      }),
  );
  return { clock, waiting, ask };
}

test("those who ask first share one making, and wait for it", async () => {
  const { waiting, ask } = counting();

  const both = Promise.all([ask(), ask()]);
  waiting[0]?.resolve(1);

  expect(await both).toEqual([1, 1]);
  expect(waiting).toHaveLength(1);
});

test("what is old is answered while it is made anew, once", async () => {
  const { clock, waiting, ask } = counting();
  const first = ask();
  waiting[0]?.resolve(1);
  await first;

  clock.ms = 10;
  expect([await ask(), await ask()]).toEqual([1, 1]);
  waiting[1]?.resolve(2);
  await expect.poll(ask).toBe(2);
  expect(waiting).toHaveLength(2);
});

test("what is far too old is waited for, and a failure is not kept", async () => {
  const { clock, waiting, ask } = counting();
  const first = ask();
  waiting[0]?.resolve(1);
  await first;

  clock.ms = 20;
  await ask();
  waiting[1]?.reject(new Error("no database"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(await ask()).toBe(1);
  clock.ms = 200;
  const late = ask();
  waiting[2]?.resolve(3);

  expect(await late).toBe(3);
});

test("what whoever asks finds wrong is made anew before the answer", async () => {
  const { waiting, ask } = counting();
  const first = ask();
  waiting[0]?.resolve(1);
  await first;

  const anew = ask((value) => value === 1);
  waiting[1]?.resolve(2);

  expect(await anew).toBe(2);
  expect(await ask((value) => value === 1)).toBe(2);
});
