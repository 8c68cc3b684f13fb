interface SelfTestRequested {
  /** A self-test was requested. */
  readonly isWanted: boolean;
  /** The server requests it. */
  readonly isDue: boolean;
  /** The minute of the daily self-test. */
  readonly atMinutes: number | undefined;
  /** The time of the last attempt. */
  readonly triedAt: Date | undefined;
  readonly startedAt: Date;
  readonly now: Date;
}

/** The time after which a self-test is repeated if it failed or its result did not arrive, in ms. */
const againMs = 60 * 60_000;

/** Decides whether to compare an artifact with itself now, while the collector is idle. */
export function selfTestDue(state: SelfTestRequested): boolean {
  const { triedAt, startedAt, now, atMinutes } = state;
  if (state.isWanted) return true;
  if (state.isDue && (!triedAt || now.getTime() - triedAt.getTime() >= againMs)) return true;
  return atMinutes !== undefined && (triedAt ?? startedAt) < latest(atMinutes, now);
}

/** Returns the most recent time at which the clock showed this minute of the day. */
function latest(atMinutes: number, now: Date): Date {
  const hour = new Date(now);
  hour.setHours(Math.floor(atMinutes / 60), atMinutes % 60, 0, 0);
  // Uses days, not 24 hours, because some days are longer.
  if (hour > now) hour.setDate(hour.getDate() - 1);
  return hour;
}

/** Returns this many items, evenly spread over all; repeats some when there are fewer. */
export function spread<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count);
  return Array.from({ length: items.length === 0 ? 0 : count }, (_, index) => {
    const item = items[Math.floor(index * step) % items.length];
    if (item === undefined) throw new Error("the spread is past the end");
    return item;
  });
}
