import { vi } from "vitest";
import { isSomebodyElseWaiting } from "./take-turns.ts";

/** From now on no time passes by itself, and nothing short is left of earlier tests, of other files either. */
export function letTimeStandStill(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  // Later than any time that the process has seen: they tell it since it began.
  forgetShorts(1e9);
}

/** The end of a test in which time stood still. */
export function letTimePass(): void {
  if (vi.isFakeTimers()) forgetShorts(100);
  vi.useRealTimers();
}

function forgetShorts(afterMs: number): void {
  vi.advanceTimersByTime(afterMs);
  isSomebodyElseWaiting("nobody");
}
