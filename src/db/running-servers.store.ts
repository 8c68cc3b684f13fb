import { z } from "zod";
import type { Tx } from "./db.ts";
import type { RunningServer } from "./server-compatibility.ts";
import { sql } from "./sql.ts";

/** PostgreSQL cuts longer names. In bytes. */
const longestName = 63;

const nameOfServer = /^grange server (\S+) knows (\d+) on (.+)$/;

/**
 * Returns the name that the connections of a server have in `pg_stat_activity`.
 *
 * The connections are the record of which servers run: it needs no heartbeat, and ends with the process. A server
 * always has at least the connection on which it listens.
 */
export function connectionName({ host, version, knows }: RunningServer): string {
  return `grange server ${version} knows ${knows} on ${host}`.slice(0, longestName);
}

/** Returns the servers that have connections to this database, each once for each host, version and schema. */
export async function readRunningServers(tx: Tx): Promise<RunningServer[]> {
  const rows = await tx.many(
    z.object({ name: z.string() }),
    sql`
      select distinct application_name as name
      from pg_stat_activity
      where datname = current_database() and application_name like 'grange server %'
      order by name`,
  );
  return rows.flatMap(({ name }) => {
    const [, version, knows, host] = nameOfServer.exec(name) ?? [];
    if (version === undefined || host === undefined) return [];
    return [{ version, knows: Number(knows), host }];
  });
}
