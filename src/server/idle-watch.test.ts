import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { type IdleWatch, startIdleWatch } from "./idle-watch.ts";

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0)) await each();
});

/** A watch whose notifications and open work come from the test. */
async function watching(
  hasOpenWork: (withinMs: number) => Promise<boolean>,
  times: { readonly rareCheckMs?: number; readonly longQuietMs?: number } = {},
) {
  let notify = () => {};
  const watch = await startIdleWatch({
    db: {
      listen: async (_channel, heard) => {
        notify = () => heard("");
        return { stop: async () => {} };
      },
    },
    logger: pino({ level: "silent" }),
    channels: ["changes"],
    hasOpenWork,
    settleMs: 20,
    checkMs: 5,
    ...times,
  });
  undo.push(() => watch.stop());
  return { watch, notify: () => notify() };
}

const busyAgain = (watch: IdleWatch) =>
  new Promise<void>((resolve) => {
    const listening = watch.onBusy(() => {
      listening.stop();
      resolve();
    });
  });

test("a farm without open work is idle after a while, and busy with the next notification", async () => {
  const { watch, notify } = await watching(async () => false);
  expect(watch.isIdle()).toBe(false);
  await expect.poll(() => watch.isIdle()).toBe(true);

  const busy = busyAgain(watch);
  notify();

  await busy;
  expect(watch.isIdle()).toBe(false);
});

test("open work ends idleness, although its notification was lost", async () => {
  let isOpen = false;
  const { watch } = await watching(async () => isOpen);
  await expect.poll(() => watch.isIdle()).toBe(true);

  const busy = busyAgain(watch);
  isOpen = true;

  await busy;
});

test("a farm with open work is not idle, however quiet", async () => {
  let checks = 0;
  const { watch } = await watching(async () => ++checks > 0);

  await expect.poll(() => checks).toBeGreaterThan(2);

  expect(watch.isIdle()).toBe(false);
});

test("a farm that was quiet for long is checked less often, for what is due until the next check", async () => {
  const within: number[] = [];
  const times = { rareCheckMs: 7, longQuietMs: 1_500 };
  const { watch, notify } = await watching(async (ms) => within.push(ms) < 0, times);
  await expect.poll(() => within.at(-1)).toBe(7);
  expect(within[0]).toBe(5);

  const checks = within.length;
  notify();
  await expect.poll(() => watch.isIdle()).toBe(true);

  expect(within[checks]).toBe(5);
});

test("a notification during the check counts", async () => {
  let answer = (_open: boolean) => {};
  let checks = 0;
  const { watch, notify } = await watching(() => {
    checks++;
    return new Promise((resolve) => (answer = resolve));
  });
  await expect.poll(() => checks).toBe(1);

  notify();
  answer(false);
  await expect.poll(() => checks).toBe(2);

  expect(watch.isIdle()).toBe(false);
  answer(false);
});

test("a farm whose database does not answer counts as busy", async () => {
  let isBroken = false;
  const { watch } = await watching(async () => {
    if (isBroken) throw new Error("no database");
    return false;
  });
  await expect.poll(() => watch.isIdle()).toBe(true);

  const busy = busyAgain(watch);
  isBroken = true;

  await busy;
});
