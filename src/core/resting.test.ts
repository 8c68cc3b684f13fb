import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { rest } from "./resting.ts";

beforeEach(() => {
  // Other faked timers of this process would also run for two hundred days.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Counts the timers of at least an hour: other tests of this process have none of these. */
function longTimers(): () => number {
  const open = new Set<unknown>();
  const set = globalThis.setTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms: number) => {
    const timer = set(() => {
      open.delete(timer);
      run();
    }, ms);
    if (ms >= 3_600_000) open.add(timer);
    return timer;
  }) as typeof setTimeout);
  const clear = globalThis.clearTimeout;
  vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    open.delete(timer);
    clear(timer);
  });
  return () => open.size;
}

test.each([
  { howLong: "a day", ms: 86_400_000 },
  { howLong: "a month, which is more than a timer takes", ms: 30 * 86_400_000 },
  { howLong: "two hundred days", ms: 200 * 86_400_000 },
])("rests $howLong, no shorter and no longer", async ({ ms }) => {
  const timers = longTimers();
  let over = false;
  const resting = rest(ms).then(() => (over = true));

  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(over).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await resting;
  expect(timers()).toBe(0);
});

test("leaves no timer behind when it is woken", async () => {
  const timers = longTimers();
  const waking = new AbortController();
  const resting = rest(40 * 86_400_000, waking.signal);
  await vi.advanceTimersByTimeAsync(30 * 86_400_000);

  expect(timers()).toBe(1);
  waking.abort();

  await resting;
  expect(timers()).toBe(0);
});
