/** The address of a log, or of something below it, with more in its query than it has. */
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
