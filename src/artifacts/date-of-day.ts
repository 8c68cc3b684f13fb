/** Midnight of a day written `20260601`; undefined when there is no such day. */
export function dateOfDay(day: string): Date | undefined {
  const [, year, month, date] = /^(\d{4})(\d\d)(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return undefined;
  const text = `${year}-${month}-${date}`;
  const at = new Date(`${text}T00:00:00Z`);
  // 20261399 parses as no date, 20260231 as another.
  return Number.isNaN(at.getTime()) || !at.toISOString().startsWith(text) ? undefined : at;
}
