/** Returns the address of a log, or of a part of it, with additional query parameters. */
export function atLog(
  url: string,
  below: string,
  query: Readonly<Record<string, string | number>>,
): string {
  const [path = "", own] = url.split("?", 2);
  const search = new URLSearchParams(own);
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  return `${path}${below}?${search}`;
}
