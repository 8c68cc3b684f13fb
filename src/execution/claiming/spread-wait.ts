/** Shorter waits are kept exactly: their callers poll, and do not wait for work. In ms. */
const leastSpreadMs = 5_000;
/** The part of a wait that may be left out. */
const spreadPart = 0.25;

/**
 * Returns how long a claim waits that requested `waitMs`. `random`: from 0 to 1.
 *
 * Thousands of workers connect at the same time when their server starts. With equal waits, their claims would end at
 * the same time from then on, and the server would do nothing else for seconds, every 20 s.
 */
export function spreadWaitMs(waitMs: number, random: number): number {
  return waitMs < leastSpreadMs ? waitMs : waitMs * (1 - spreadPart * random);
}
