import pg from "pg";
import { Fault } from "#core/fault.ts";
import { connectionTarget } from "./connection-target.ts";
import { databaseFault } from "./database-fault.ts";

/** A connection to a database for a single query. */
interface RequestedConnection {
  /** Returns the process id of its server process. */
  backend(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Throws `failed_precondition` when a connection pooler shares connections between transactions, as PgBouncer does in
 * transaction mode: named statements and LISTEN belong to one connection and would reach another client.
 *
 * Two connections that are open at the same time have different backends, unless the pooler gives the second one the
 * backend that the first has just used.
 */
export async function requireOwnConnections(
  open: () => Promise<RequestedConnection>,
): Promise<void> {
  const opened: RequestedConnection[] = [];
  try {
    const backends: number[] = [];
    for (let count = 0; count < 2; count++) {
      const connection = await open();
      opened.push(connection);
      backends.push(await connection.backend());
    }
    if (backends[0] !== backends[1]) return;
  } finally {
    await Promise.allSettled(opened.map((each) => each.close()));
  }
  throw new Fault(
    "failed_precondition",
    "the database at GRANGE_DATABASE_URL uses a pooler that shares connections between transactions, such as PgBouncer with " +
      "pool_mode = transaction. Configure the pooler to keep a connection for a session (pool_mode = session), or give the address of PostgreSQL itself",
  );
}

export async function requestedConnection(url: string): Promise<RequestedConnection> {
  const client = new pg.Client({ ...connectionTarget(url), connectionTimeoutMillis: 10_000 });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (reason) {
    await client.end().catch(() => {});
    throw databaseFault(reason);
  }
  return {
    async backend() {
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      return rows[0]?.pid ?? 0;
    },
    close: () => client.end(),
  };
}
