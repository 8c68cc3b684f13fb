/** The date of versions without one: always the same, so that ids of commits are the same, too. */
export const undated = new Date("2000-01-01T00:00:00Z");

/**
 * Returns the date in a nightly's version: `7.1.0-dev.20261021.1` → 2026-10-21.
 *
 * The registry's own dates are not used: they are the times of upload or mirroring, not of the build.
 */
export function versionDate(version: string): Date | undefined {
  const match = /[-.](20\d\d)(\d\d)(\d\d)(?:\D|$)/.exec(version);
  if (match === null) return undefined;
  const [, year, month, day] = match;
  const text = `${year}-${month}-${day}T00:00:00Z`;
  const date = new Date(text);
  // 20261399 is no date, and 20260231 parses as another date.
  return Number.isNaN(date.getTime()) || !date.toISOString().startsWith(text.slice(0, 10))
    ? undefined
    : date;
}
