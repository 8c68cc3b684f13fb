const dayMs = 24 * 3_600_000;

/**
 * Returns the first instant after `after` at which clocks in `timeZone` show `timeOfDay` ("19:00").
 *
 * A time that is skipped in spring is moved by the skipped amount (02:30 becomes 03:30); of a time that occurs twice in
 * autumn, the first is used.
 */
export function nextTimeOfDay(after: Date, timeOfDay: string, timeZone: string): Date {
  const [hours = 0, minutes = 0] = timeOfDay.split(":").map(Number);
  const midnight = Math.floor((after.getTime() + offsetMs(after.getTime(), timeZone)) / dayMs);
  for (let day = midnight; ; day++) {
    const instant = instantOf(day * dayMs + (hours * 60 + minutes) * 60_000, timeZone);
    if (instant > after.getTime()) return new Date(instant);
  }
}

/** Returns the instant of a local time that is given as if it were UTC. */
function instantOf(local: number, timeZone: string): number {
  // The offsets one day before and after are used; there is at most one change between them.
  const before = offsetMs(local - dayMs, timeZone);
  const candidates = [before, offsetMs(local + dayMs, timeZone)].map((offset) => local - offset);
  const shown = candidates.filter((instant) => instant + offsetMs(instant, timeZone) === local);
  return shown.length > 0 ? Math.min(...shown) : local - before;
}

/** How far clocks in a zone are ahead of UTC at an instant. */
function offsetMs(instant: number, timeZone: string): number {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const shown = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return shown - Math.floor(instant / 1_000) * 1_000;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const numbers = { year: "numeric", month: "numeric", day: "numeric" } as const;
  const times = { hour: "numeric", minute: "numeric", second: "numeric" } as const;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    ...numbers,
    ...times,
  });
  formats.set(timeZone, format);
  return format;
}
