import pg from "pg";
import { Fault } from "#core/fault.ts";
import { connectionTarget } from "./connection-target.ts";
import { databaseFault } from "./database-fault.ts";

/** A connection to a database, to find out whether a pooler shares it. */
interface RequestedConnection {
  /** Returns the process id of its server process. */
  backend(): Promise<number>;
  /** Begins a transaction, which lasts until the connection is closed, and returns the same. */
  backendOfTransaction(): Promise<number>;
  close(): Promise<void>;
}

/** PgBouncer's code for `begin` with pool_mode = statement, and other poolers' for what they do not support. */
const protocolViolation = "08P01";

/** The first check may miss a pooler: its other clients may hold the backend at that moment. */
const mostAttempts = 5;

/**
 * Throws `failed_precondition` when a connection pooler shares connections between transactions, as PgBouncer does in
 * transaction mode: named statements, settings and LISTEN belong to one connection and would reach another client.
 *
 * Connections of their own have different backends, and keep them. A pooler gives a second connection, for the time of a
 * transaction, a backend that is free: usually the one that the first connection has just used, which then gets another.
 */
export async function requireOwnConnections(
  open: () => Promise<RequestedConnection>,
): Promise<void> {
  const opened: RequestedConnection[] = [];
  const opening = async () => {
    const connection = await open();
    opened.push(connection);
    return connection;
  };
  try {
    const one = await opening();
    const own = await one.backend();
    if ((await (await opening()).backendOfTransaction()) === own) throw shared();
    for (let attempt = 0; attempt < mostAttempts; attempt++)
      if ((await one.backend()) !== own) throw shared();
  } catch (reason) {
    const refusesTransactions = (reason as { code?: unknown } | undefined)?.code;
    throw refusesTransactions === protocolViolation ? shared() : reason;
  } finally {
    await Promise.allSettled(opened.map((each) => each.close()));
  }
}

function shared(): Fault {
  return new Fault(
    "failed_precondition",
    "the database at GRANGE_DATABASE_URL uses a pooler that shares connections between transactions, such as PgBouncer with " +
      "pool_mode = transaction. Configure the pooler to keep a connection for a session (pool_mode = session), or give the address of PostgreSQL itself",
  );
}

/** Opens a connection for `requireOwnConnections`. */
export async function requestedConnection(url: string): Promise<RequestedConnection> {
  const client = new pg.Client({ ...connectionTarget(url), connectionTimeoutMillis: 10_000 });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (reason) {
    await client.end().catch(() => {});
    throw databaseFault(reason);
  }
  const backend = async () => {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    return rows[0]?.pid ?? 0;
  };
  return {
    backend,
    async backendOfTransaction() {
      await client.query("begin");
      return backend();
    },
    close: () => client.end(),
  };
}
