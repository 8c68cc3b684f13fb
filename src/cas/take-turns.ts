import { setImmediate } from "node:timers/promises";

/** Far below what a waiting request would notice, also with several such loops; far above what a turn costs. */
const longestTurnMs = 2;

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
