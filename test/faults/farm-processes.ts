import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Returns the number of PostgreSQL's first process; undefined while there is none. */
export async function postmasterOf(dataDir: string): Promise<number | undefined> {
  const lock = join(dataDir, "pgdata", "postmaster.pid");
  const pid = Number.parseInt(await readFile(lock, "utf8").catch(() => ""), 10);
  return Number.isInteger(pid) ? pid : undefined;
}

/** Returns the numbers of all processes of the farm's PostgreSQL, its first one before the others. */
export async function postgresProcessesOf(dataDir: string): Promise<number[]> {
  const pid = await postmasterOf(dataDir);
  if (pid === undefined) return [];
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return [pid, ...children.split(" ").map(Number).filter(Boolean)];
}
