/** Contains the address of the process with the run's PostgreSQL; not set outside of Vitest. */
export const sharedDatabaseVariable = "GRANGE_TEST_SHARED_DATABASE";

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

async function ask(what: "server" | "cluster"): Promise<string | undefined> {
  const address = process.env[sharedDatabaseVariable];
  if (address === undefined) return undefined;
  const response = await fetch(`${address}/${what}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`the test database could not be started: ${text}`);
  return text;
}
