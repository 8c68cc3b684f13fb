interface SelfTestRequested {
  /** A self-test was requested. */
  readonly isWanted: boolean;
  /** The server says that it is time. */
  readonly isDue: boolean;
  /** Each day at this minute. */
  readonly atMinutes: number | undefined;
  /** When one was tried last. */
  readonly triedAt: Date | undefined;
  readonly startedAt: Date;
  readonly now: Date;
}

/** How soon a self-test is repeated that failed or whose result did not arrive, in ms. */
const againMs = 60 * 60_000;

/** Whether to compare an artifact with itself now, while there is nothing else to do. */
export function selfTestDue(state: SelfTestRequested): boolean {
  const { triedAt, startedAt, now, atMinutes } = state;
  if (state.isWanted) return true;
  if (state.isDue && (!triedAt || now.getTime() - triedAt.getTime() >= againMs)) return true;
  return atMinutes !== undefined && (triedAt ?? startedAt) < latest(atMinutes, now);
}

/** When it was that time last. */
function latest(atMinutes: number, now: Date): Date {
  const hour = new Date(now);
  hour.setHours(Math.floor(atMinutes / 60), atMinutes % 60, 0, 0);
  // By days, not by 24 hours: some days are longer.
  if (hour > now) hour.setDate(hour.getDate() - 1);
  return hour;
}

/** Returns so many items, spread over all; some repeatedly when there are fewer. */
export function spread<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count);
  return Array.from({ length: items.length === 0 ? 0 : count }, (_, index) => {
    const item = items[Math.floor(index * step) % items.length];
    if (item === undefined) throw new Error("the spread is past the end");
    return item;
  });
}
