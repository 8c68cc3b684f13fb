import { setImmediate } from "node:timers/promises";

/** Far below what a waiting request would notice, far above what a turn costs. */
const longestTurnMs = 10;

/**
 * Answers a function to be awaited in each round of a long loop: it lets the rest of
 * the process have a turn whenever this loop had one for long enough.
 */
export function takingTurns(turnMs = longestTurnMs): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < turnMs) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}
