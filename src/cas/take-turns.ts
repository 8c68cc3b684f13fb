import { setImmediate } from "node:timers";

/** Far above what a turn costs. Something small that waits has a dozen steps to go, and waits before each. */
const longestTurnMs = 0.5;

const line: (() => void)[] = [];

/**
 * Answers a function to be awaited in each round of a long loop: it lets the rest of
 * the process have a turn whenever this loop had one for long enough.
 *
 * All such loops stand in one line. Were each let on in every round of the event loop, ten of
 * them would make everybody else wait ten times as long.
 */
export function takingTurns(turnMs = longestTurnMs): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < turnMs) return undefined;
    return inLine().then(() => {
      since = performance.now();
    });
  };
}

function inLine(): Promise<void> {
  return new Promise((resolve) => {
    line.push(resolve);
    if (line.length === 1) setImmediate(letOneOn);
  });
}

function letOneOn(): void {
  line.shift()?.();
  if (line.length > 0) setImmediate(letOneOn);
}
