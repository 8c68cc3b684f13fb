/** The farm's first response to a build, for which its requests wait once and for a short time. */
interface FirstResponse {
  /** Resolves when the farm has responded or the time limit has passed. Undefined after that. */
  pending(): Promise<void> | undefined;
  arrived(): void;
}

/** The longest wait, in ms. A response after this time applies from its arrival on. */
const longestMs = 250;
const unknownRoundTripMs = 50;

/** Starts the wait, which lasts one round trip, and the same time again for a busy farm. */
export function firstResponse(roundTripMs: number = unknownRoundTripMs): FirstResponse {
  const waitMs = Math.min(longestMs, 2 * roundTripMs + 50);
  let hasArrived = false;
  let arrived = () => {};
  const pending = new Promise<void>((resolve) => {
    const timer = setTimeout(() => arrived(), waitMs);
    timer.unref();
    arrived = () => {
      hasArrived = true;
      clearTimeout(timer);
      resolve();
    };
  });
  return { pending: () => (hasArrived ? undefined : pending), arrived: () => arrived() };
}
