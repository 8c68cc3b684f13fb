/** What a build waits for once, and not for long. */
export interface UntilHeard {
  /** Undefined once it was heard, or its time is over. */
  pending(): Promise<void> | undefined;
  heard(): void;
}

/** A farm that takes longer is not waited for: what it says then counts from then on. */
const longestMs = 250;
const unknownRoundTripMs = 50;

/** From now on. A round trip, and as much again for a farm at work. */
export function untilHeard(roundTripMs: number = unknownRoundTripMs): UntilHeard {
  const waitMs = Math.min(longestMs, 2 * roundTripMs + 50);
  let isHeard = false;
  let heard = () => {};
  const pending = new Promise<void>((resolve) => {
    const timer = setTimeout(() => heard(), waitMs);
    timer.unref();
    heard = () => {
      isHeard = true;
      clearTimeout(timer);
      resolve();
    };
  });
  return { pending: () => (isHeard ? undefined : pending), heard: () => heard() };
}
