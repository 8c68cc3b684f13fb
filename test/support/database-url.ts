/** The migrated database that each test file's own is copied from. */
export const templateDatabase = "grange_template";

/** The URL of another database on the same server. */
export function databaseUrl(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.href;
}
