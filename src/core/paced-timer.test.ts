import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { idlePeriodMs } from "./idle-state.ts";
import { startPacedTimer } from "./paced-timer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An idle state that the test sets. */
function settable() {
  let isIdle = false;
  const listeners = new Set<() => void>();
  return {
    isIdle: () => isIdle,
    onBusy(busy: () => void) {
      listeners.add(busy);
      return { stop: () => void listeners.delete(busy) };
    },
    set(to: boolean) {
      isIdle = to;
      if (!to) for (const busy of listeners) busy();
    },
    listeners,
  };
}

test("the timer keeps its period while the farm is busy, and waits longer while it is idle", () => {
  const idle = settable();
  const planned: number[] = [];
  const end = startPacedTimer(1_000, idle, (plannedMs) => planned.push(plannedMs));

  vi.advanceTimersByTime(3_000);
  expect(planned).toEqual([1_000, 1_000, 1_000]);

  idle.set(true);
  vi.advanceTimersByTime(1_000 + 2 * idlePeriodMs);
  expect(planned.slice(3)).toEqual([1_000, idlePeriodMs, idlePeriodMs]);
  end();
});

test("when the farm becomes busy, the next call comes within the usual period", () => {
  const idle = settable();
  let calls = 0;
  idle.set(true);
  const end = startPacedTimer(1_000, idle, () => calls++);
  vi.advanceTimersByTime(10_000);

  idle.set(false);
  vi.advanceTimersByTime(1_000);

  expect(calls).toBe(1);
  end();
  expect(idle.listeners.size).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(calls).toBe(1);
});

test("a timer with a period of its own for idle farms keeps that one", () => {
  const idle = settable();
  idle.set(true);
  const planned: number[] = [];
  const end = startPacedTimer(1_000, idle, (plannedMs) => planned.push(plannedMs), 3_000);

  vi.advanceTimersByTime(6_000);

  expect(planned).toEqual([3_000, 3_000]);
  end();
});

test("a period longer than that of an idle farm stays as it is", () => {
  const idle = settable();
  idle.set(true);
  let calls = 0;
  const end = startPacedTimer(2 * idlePeriodMs, idle, () => calls++);

  vi.advanceTimersByTime(2 * idlePeriodMs);

  expect(calls).toBe(1);
  end();
});
