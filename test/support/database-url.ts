/** The migrated database from which the database of each test file is copied. */
export const templateDatabase = "grange_template";

/** Returns the URL of another database on the same server. */
export function databaseUrl(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.href;
}
