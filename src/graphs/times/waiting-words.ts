/** Returns `1 worker`, `3 workers`. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}

/**
 * Returns `build`, `build and lint`, `build and 3 others`: `names` may be only the first of
 * `count`.
 */
export function listed(names: readonly string[], count: number): string {
  const [first = "another job", second] = names;
  if (count <= 1) return first;
  if (count === 2 && second !== undefined) return `${first} and ${second}`;
  return `${first} and ${counted(count - 1, "other")}`;
}

/** Returns `in 12 s`, `in 5 min`, `in 3 h`; `at any moment` for a time in the past. */
export function inWhile(at: Date, now: Date): string {
  const seconds = Math.ceil((at.getTime() - now.getTime()) / 1_000);
  return seconds <= 0 ? "at any moment" : `in ${spanText(seconds)}`;
}

/** Returns `12 s`, `5 min`, `3 h`, `2 d`: rounded up. */
export function spanText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.ceil(hours / 24)} d`;
}
