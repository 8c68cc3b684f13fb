import { afterEach, expect, test, vi } from "vitest";
import { rest } from "./resting.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

afterEach(() => {
  vi.restoreAllMocks();
});

/**
 * Replaces timers of at least an hour by those of a clock that the test sets. Shorter ones are of other code in this
 * process, which must not run for two hundred days.
 */
function longTimers() {
  let nowMs = 0;
  const open = new Map<unknown, { readonly run: () => void; readonly atMs: number }>();
  const set = globalThis.setTimeout;
  const clear = globalThis.clearTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms: number) => {
    if (ms < hourMs) return set(run, ms);
    const timer = { long: true };
    open.set(timer, { run, atMs: nowMs + ms });
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    if (!open.delete(timer)) clear(timer);
  });
  return {
    count: () => open.size,
    async advance(ms: number): Promise<void> {
      const untilMs = nowMs + ms;
      for (;;) {
        const [next] = [...open].toSorted(([, a], [, b]) => a.atMs - b.atMs);
        if (next === undefined || next[1].atMs > untilMs) break;
        const [timer, { run, atMs }] = next;
        open.delete(timer);
        nowMs = atMs;
        run();
      }
      nowMs = untilMs;
      await Promise.resolve();
    },
  };
}

test.each([
  { howLong: "a day", ms: dayMs },
  { howLong: "a month, which is more than a timer takes", ms: 30 * dayMs },
  { howLong: "two hundred days", ms: 200 * dayMs },
])("rests $howLong, no shorter and no longer", async ({ ms }) => {
  const timers = longTimers();
  let over = false;
  const resting = rest(ms).then(() => (over = true));

  await timers.advance(ms - 1);
  expect(over).toBe(false);
  await timers.advance(1);
  await resting;
  expect(timers.count()).toBe(0);
});

test("no timer is longer than Node's longest", async () => {
  const set = vi.spyOn(globalThis, "setTimeout");
  const waking = new AbortController();
  const resting = rest(200 * dayMs, waking.signal);
  waking.abort();
  await resting;

  const [, ms = Number.NaN] = set.mock.calls.find(([, each = 0]) => each >= hourMs) ?? [];
  expect(ms).toBeLessThan(2 ** 31);
});

test("leaves no timer behind when it is woken", async () => {
  const timers = longTimers();
  const waking = new AbortController();
  const resting = rest(40 * dayMs, waking.signal);
  await timers.advance(30 * dayMs);

  expect(timers.count()).toBe(1);
  waking.abort();

  await resting;
  expect(timers.count()).toBe(0);
});
