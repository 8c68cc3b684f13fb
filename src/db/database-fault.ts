import pg from "pg";
import { Fault, type FaultCode, messageOf } from "#core/fault.ts";
import { isFullDisk } from "#core/full-disk.ts";

/** character_not_in_repertoire, untranslatable_character: a value is not valid text. */
const unkeepable: ReadonlySet<string> = new Set(["22021", "22P05"]);

/**
 * Distinguishes an unreachable database (retry) from one that refused the statement (do not retry).
 *
 * SQLSTATE classes: 08 connection, 57P administrator or crash shutdown, 53 insufficient resources, 40 serialisation and
 * deadlock (PostgreSQL, appendix A).
 */
export function databaseFault(reason: unknown): Fault {
  if (reason instanceof Fault) return reason;
  if (reason instanceof pg.DatabaseError && unkeepable.has(reason.code ?? "")) {
    const message =
      "a text in it contains a NUL or an incomplete character, which cannot be stored or searched";
    return new Fault("invalid_argument", message, { cause: reason });
  }
  if (isFullDisk(reason)) {
    const message =
      "no space is left on the disk of the database; nothing was stored. Free disk space, or move the database to a larger disk";
    return new Fault("resource_exhausted", message, { cause: reason });
  }
  if (isReadOnly(reason)) {
    const message =
      "the database is a standby, or was made read-only; nothing was stored. Try again when it has a new primary";
    return new Fault("unavailable", message, { cause: reason });
  }
  const limit = limitReached(reason);
  if (limit !== undefined) return new Fault("unavailable", limit, { cause: reason });
  return new Fault(codeOf(reason), `the database reports: ${messageOf(reason)}`, { cause: reason });
}

/** Failures by a time limit, by SQLSTATE. */
const byLimit: ReadonlyMap<string | undefined, string> = new Map([
  // query_canceled: an administrator's request causes it, too.
  [
    "57014",
    "the database stopped a statement that took too long; nothing was stored. Try again when it has less load",
  ],
  // lock_not_available
  [
    "55P03",
    "the database waited too long for a lock of another transaction; nothing was stored. Try again",
  ],
  // idle_in_transaction_session_timeout
  [
    "25P03",
    "the database ended a transaction that was idle for too long; nothing was stored. Try again",
  ],
]);

/** Returns the time limit that ended a statement or its transaction, in a sentence; undefined for another failure. */
function limitReached(reason: unknown): string | undefined {
  if (reason instanceof Error && reason.message === "Query read timeout")
    return "the database did not answer in time; the connection was closed. Try again";
  return reason instanceof pg.DatabaseError ? byLimit.get(reason.code) : undefined;
}

/**
 * Returns whether the error only means that an earlier statement of the transaction failed:
 * `in_failed_sql_transaction`.
 */
export function isAfterFailure(reason: unknown): boolean {
  for (let each = reason; each instanceof Error; each = each.cause)
    if (each instanceof pg.DatabaseError) return each.code === "25P02";
  return false;
}

/** Returns whether a server refused a write because it is not the primary: `read_only_sql_transaction`. */
export function isReadOnly(reason: unknown): boolean {
  for (let each = reason; each instanceof Error; each = each.cause)
    if (each instanceof pg.DatabaseError) return each.code === "25006";
  return false;
}

function codeOf(reason: unknown): FaultCode {
  if (!(reason instanceof pg.DatabaseError))
    return isConnectionLoss(reason) ? "unavailable" : "internal";
  const state = reason.code ?? "";
  if (state.startsWith("08") || state.startsWith("57P") || state.startsWith("53"))
    return "unavailable";
  if (state.startsWith("40")) return "aborted";
  return "internal";
}

function isConnectionLoss(reason: unknown): boolean {
  if (!(reason instanceof Error)) return false;
  const { code } = reason as NodeJS.ErrnoException;
  const lost = ["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "ETIMEDOUT", "ENOTFOUND"];
  return (
    (code !== undefined && lost.includes(code)) ||
    // node-postgres throws plain errors for a socket that was closed during use.
    /connection (terminated|ended|closed)|client has encountered a connection error|not queryable|timeout exceeded when trying to connect/i.test(
      reason.message,
    )
  );
}
