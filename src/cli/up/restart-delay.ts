/** A process that lived this long was well; what ended it is not what ended the one before. */
const wellMs = 10_000;
const longestMs = 10_000;

/** How often a process died in a row, each soon after its start. */
export function deathsInARow(before: number, livedMs: number): number {
  return livedMs >= wellMs ? 1 : before + 1;
}

/** How long to wait before a process that died is started again, ms: 100, 200, 400 … 10,000. */
export function restartDelayMs(deaths: number): number {
  return Math.min(longestMs, 100 * 2 ** Math.max(0, deaths - 1));
}
