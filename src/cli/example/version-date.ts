/** The date of versions without one: always the same, so that ids of commits are the same, too. */
export const undated = new Date("2000-01-01T00:00:00Z");

/**
 * The day that a nightly's version carries: `7.1.0-dev.20261021.1` → 2026-10-21.
 *
 * The registry's own dates are not used: they say when a version was uploaded, or
 * mirrored, and not when it was made.
 */
export function versionDate(version: string): Date | undefined {
  const match = /[-.](20\d\d)(\d\d)(\d\d)(?:\D|$)/.exec(version);
  if (match === null) return undefined;
  const [, year, month, day] = match;
  const text = `${year}-${month}-${day}T00:00:00Z`;
  const date = new Date(text);
  // 20261399 parses as no date, 20260231 as another.
  return Number.isNaN(date.getTime()) || !date.toISOString().startsWith(text.slice(0, 10))
    ? undefined
    : date;
}
