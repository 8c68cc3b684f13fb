/** Contains the address of the process with the run's shared resources; not set outside of Vitest. */
export const sharedResourcesVariable = "GRANGE_TEST_SHARED_RESOURCES";

/** What tests share: a stopped PostgreSQL to copy, a running one, and the built pages. */
export type SharedResource = "cluster" | "server" | "pages";

/** Returns the URL of the run's PostgreSQL, and starts it if no test has needed it before. */
export async function sharedDatabaseServer(): Promise<string> {
  const url = await ask("server");
  if (url === undefined) throw new Error("there is no database outside of Vitest");
  return url;
}

/** Returns the directory of the prepared cluster, and makes it at the first call; undefined outside of Vitest. */
export function preparedCluster(): Promise<string | undefined> {
  return ask("cluster");
}

/** Returns the directory of the production pages, and builds them at the first call. */
export async function builtPages(): Promise<string> {
  const directory = await ask("pages");
  if (directory === undefined) throw new Error("there are no built pages outside of Vitest");
  return directory;
}

async function ask(what: SharedResource): Promise<string | undefined> {
  const address = process.env[sharedResourcesVariable];
  if (address === undefined) return undefined;
  const response = await fetch(`${address}/${what}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`what tests share could not be made: ${text}`);
  return text;
}
