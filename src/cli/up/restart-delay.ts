/** A process that lived this long was healthy; its end has another cause than the one before. */
const wellMs = 10_000;
const longestMs = 10_000;

/** Returns the number of consecutive deaths, each soon after its start. */
export function consecutiveDeaths(before: number, livedMs: number): number {
  return livedMs >= wellMs ? 1 : before + 1;
}

/** Returns the pause before a dead process is restarted, in ms: 100, 200, 400 … 10,000. */
export function restartDelayMs(deaths: number): number {
  return Math.min(longestMs, 100 * 2 ** Math.max(0, deaths - 1));
}
