import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SilenceBudget, silenceLimitMs, silenceLimitsAtFarm } from "./silence-budget.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns the outcome of a promise on the test's clock, which advances as fast as possible. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  let isOver = false;
  const settled = promise.finally(() => {
    isOver = true;
  });
  settled.catch(() => {});
  while (!isOver) await vi.advanceTimersByTimeAsync(1);
  return settled;
}

const silent = new Promise<never>(() => {});
const later = (ms: number) => new Promise<string>((resolve) => setTimeout(() => resolve("it"), ms));

test.each([
  { roundTripMs: undefined, expected: 1_000 },
  { roundTripMs: 1, expected: 500 },
  { roundTripMs: 80, expected: 570 },
  { roundTripMs: 1_000, expected: 1_000 },
])("a line of $roundTripMs ms may be silent for $expected ms", ({ roundTripMs, expected }) => {
  expect(silenceLimitMs(roundTripMs)).toBe(expected);
});

test("many that wait during the same silence wait for a second together", async () => {
  const budget = new SilenceBudget(() => undefined);
  const begun = performance.now();
  const waits: Promise<unknown>[] = [];
  for (let n = 0; n < 9; n++) {
    waits.push(budget.wait(silent).catch(() => "gave up"));
    await soon(later(100));
  }
  await soon(Promise.all(waits));
  await expect(budget.wait(silent)).rejects.toMatchObject({ code: "unavailable" });
  expect(performance.now() - begun).toBeLessThan(1_100);
  expect(budget.isOver).toBe(true);
});

test("a build that executes at the farm waits like a tool that calls the farm itself, each time again", async () => {
  const budget = new SilenceBudget(() => 1, silenceLimitsAtFarm);
  for (let n = 0; n < 3; n++) {
    const answer = budget.wait(later(50_000));
    await vi.advanceTimersByTimeAsync(50_000);
    expect(await answer).toBe("it");
  }
  const gaveUp = budget.wait(silent).catch(({ code }: { code: string }) => code);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(await gaveUp).toBe("unavailable");
  expect(budget.isOver).toBe(false);
});

test("an answer to one ends the silence for all", async () => {
  const budget = new SilenceBudget(() => undefined);
  const [long, ...short] = await soon(
    Promise.allSettled([
      budget.wait(later(1_300)),
      budget.wait(later(400)),
      budget.wait(later(800)),
    ]),
  );
  expect(short.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  expect(long.status).toBe("fulfilled");
  expect(budget.isOver).toBe(false);
});

test("a refusal counts for the time that it took", async () => {
  const budget = new SilenceBudget(() => undefined);
  for (let n = 0; n < 50; n++) {
    await budget.wait(Promise.reject(new Error("refused"))).catch(() => {});
  }
  expect(budget.isOver).toBe(false);
});

test("every wait ends, at whatever fraction of a millisecond it began", async () => {
  const waits = Array.from({ length: 300 }, async (_, n) => {
    await later(n % 11);
    const budget = new SilenceBudget(() => 1 + n / 300);
    return budget.wait(silent).catch(() => "gave up");
  });
  expect(new Set(await soon(Promise.all(waits)))).toEqual(new Set(["gave up"]));
});

test("for any requests, none waits in silence for longer than the remaining time", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 6 }),
      async (starts) => {
        const budget = new SilenceBudget(() => 1);
        const begun = performance.now();
        await soon(
          Promise.all(
            starts.map(async (ms) => {
              await later(ms);
              await budget.wait(silent).catch(() => {});
            }),
          ),
        );
        expect(performance.now() - begun).toBeLessThan(1_400);
      },
    ),
    { numRuns: 30 },
  );
});
