/** Formats a duration with at most two units; short durations are more precise. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${two(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${two(minutes % 60)} m`;
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

/** Formats a configured duration without units of zero: `15 min`, `7 d`. */
export function wholeDurationText(ms: number): string {
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
  ] as const;
  const whole = units.find(([unit]) => ms >= unit && ms % unit === 0);
  return whole === undefined ? durationText(ms) : `${ms / whole[0]} ${whole[1]}`;
}

const two = (value: number) => String(value).padStart(2, "0");

/**
 * Returns the time from one ISO time to another, or to `now` (ms) if that is in the future; undefined if it has not
 * started.
 */
export function elapsedMs(from: string | null, to: string | null, now: number): number | undefined {
  if (from === null) return undefined;
  return Math.max(0, (to === null ? now : Date.parse(to)) - Date.parse(from));
}

/** Formats the time since then; after a week the date. */
export function agoText(time: string, now: number): string {
  const seconds = Math.floor((now - Date.parse(time)) / 1_000);
  if (seconds < 10) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`;
  return time.slice(0, 10);
}
