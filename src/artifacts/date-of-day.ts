/** Returns midnight of a day such as `20260601`; undefined when there is no such day. */
export function dateOfDay(day: string): Date | undefined {
  const [, year, month, date] = /^(\d{4})(\d\d)(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const text = `${year}-${month}-${date}`;
  const at = new Date(`${text}T00:00:00Z`);
  // 20261399 does not parse as a date, and 20260231 parses as a different date.
  return Number.isNaN(at.getTime()) || !at.toISOString().startsWith(text) ? undefined : at;
}
