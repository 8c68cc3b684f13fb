/** For a scan: a step size on the line, or the first of each week or month (UTC). */
type Every = number | "week" | "month";

const dayMs = 24 * 60 * 60 * 1_000;

/** Returns the artifacts of the line that a scan measures: both ends, and those between them by the step size. */
export function chooseScanned(dates: readonly Date[], every: Every): number[] {
  const wanted = dates.flatMap((date, position) => {
    if (position === 0 || position === dates.length - 1) return [position];
    if (typeof every === "number") return position % every === 0 ? [position] : [];
    const before = dates[position - 1];
    return before !== undefined && periodOf(date, every) !== periodOf(before, every)
      ? [position]
      : [];
  });
  return [...new Set(wanted)];
}

/** Parses `3`, `week`, `month`, as stored in tables. */
export function everyOf(text: string | null): Every {
  if (text === "week" || text === "month") return text;
  return Math.max(1, Number.parseInt(text ?? "1", 10) || 1);
}

function periodOf(date: Date, every: "week" | "month"): number {
  if (every === "month") return date.getUTCFullYear() * 12 + date.getUTCMonth();
  // Day 0 was a Thursday; weeks begin on Mondays.
  return Math.floor((Math.floor(date.getTime() / dayMs) + 3) / 7);
}
