import type { Sql } from "./sql.ts";
import { sql } from "./sql.ts";

/**
 * The purpose of a transaction, which decides how long PostgreSQL may work on it:
 *
 * - `call`: a caller waits for the answer;
 * - `maintenance`: no caller waits. It may read much, but it must not delay callers that wait;
 * - `migration`: runs once before the server answers, over tables of any size. Other servers may run meanwhile.
 */
export type KindOfWork = "call" | "maintenance" | "migration";

/** Limits in milliseconds. 0 is none. */
export interface TimeLimits {
  /** For a statement, from its arrival until its answer is complete. Waiting for locks counts. */
  readonly statementMs: number;
  /** For each wait for a lock. */
  readonly lockMs: number;
  /** How long a transaction may be idle between statements, because its server hangs, is stopped, or has ended. */
  readonly idleInTransactionMs: number;
  /**
   * How long the client waits for the answer to a statement: longer than PostgreSQL's own limit. After that the
   * connection counts as dead, because neither side notices a network that drops all packets.
   */
  readonly answerMs: number;
}

/** Node's longest timer: 24 days. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * A call's longest statement took 2 s when measured (a page of 10,000 jobs on two loaded cores); a client gives up
 * after a minute or earlier. A lock is held for one transaction, which takes milliseconds; a wait of 20 s means that a
 * server hangs. The transactions of such a server are aborted after 20 s, a little more than a lease (15 s): by then
 * another server has its work and needs the rows. A migration that waits for a table delays all calls that need it, so it
 * gives up before their limit, and tries again.
 */
export const timeLimits: Readonly<Record<KindOfWork, TimeLimits>> = {
  call: { statementMs: 60_000, lockMs: 20_000, idleInTransactionMs: 20_000, answerMs: 65_000 },
  maintenance: {
    statementMs: 900_000,
    lockMs: 5_000,
    idleInTransactionMs: 60_000,
    answerMs: 905_000,
  },
  migration: { statementMs: 0, lockMs: 5_000, idleInTransactionMs: 0, answerMs: longestTimerMs },
};

/** Sets the limits of a connection. They are not startup parameters, because poolers such as PgBouncer refuse these. */
export function setForConnection(limits: TimeLimits): string {
  return [
    `set statement_timeout = ${limits.statementMs}`,
    `set lock_timeout = ${limits.lockMs}`,
    `set idle_in_transaction_session_timeout = ${limits.idleInTransactionMs}`,
    // For the server's side of the connection; PostgreSQL ignores them for Unix sockets.
    "set tcp_keepalives_idle = 30",
    "set tcp_keepalives_interval = 10",
    "set tcp_keepalives_count = 3",
  ].join("; ");
}

/** Sets the limits for the rest of one transaction. */
export function setForTransaction(limits: TimeLimits): Sql {
  return sql`select
    set_config('statement_timeout', ${String(limits.statementMs)}, true),
    set_config('lock_timeout', ${String(limits.lockMs)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(limits.idleInTransactionMs)}, true)`;
}
