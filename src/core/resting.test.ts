import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { rest } from "./resting.ts";

beforeEach(() => {
  // Other faked timers of this process would also run for two hundred days.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  { howLong: "a day", ms: 86_400_000 },
  { howLong: "a month, which is more than a timer takes", ms: 30 * 86_400_000 },
  { howLong: "two hundred days", ms: 200 * 86_400_000 },
])("rests $howLong, no shorter and no longer", async ({ ms }) => {
  let over = false;
  const resting = rest(ms).then(() => (over = true));

  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(over).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await resting;
  expect(vi.getTimerCount()).toBe(0);
});

test("leaves no timer behind when it is woken", async () => {
  const waking = new AbortController();
  const resting = rest(40 * 86_400_000, waking.signal);
  await vi.advanceTimersByTimeAsync(30 * 86_400_000);

  waking.abort();

  await resting;
  expect(vi.getTimerCount()).toBe(0);
});
