import { vi } from "vitest";
import { isAnotherOwnerWaiting } from "./take-turns.ts";

/**
 * From now on time only passes when the test advances it, and no short work of earlier tests remains, also of other
 * files.
 */
export function letTimeStandStill(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  // Later than any time of this process, which measures time from its start.
  forgetShorts(1e9);
}

/** Ends a test with stopped time. */
export function letTimePass(): void {
  if (vi.isFakeTimers()) forgetShorts(100);
  vi.useRealTimers();
}

function forgetShorts(afterMs: number): void {
  vi.advanceTimersByTime(afterMs);
  isAnotherOwnerWaiting("nobody");
}
