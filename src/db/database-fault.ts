import pg from "pg";
import { Fault, type FaultCode, messageOf } from "#core/fault.ts";
import { isFullDisk } from "#core/full-disk.ts";

/** character_not_in_repertoire, untranslatable_character: what somebody sent is no text. */
const unkeepable: ReadonlySet<string> = new Set(["22021", "22P05"]);

/**
 * Tells a database that cannot be reached (try again) from one that refused (do not).
 *
 * SQLSTATE classes: 08 connection, 57P administrator or crash shutdown, 53
 * insufficient resources, 40 serialisation and deadlock (PostgreSQL, appendix A).
 */
export function databaseFault(reason: unknown): Fault {
  if (reason instanceof Fault) return reason;
  if (reason instanceof pg.DatabaseError && unkeepable.has(reason.code ?? "")) {
    const message = "a text in it holds a NUL or half a letter, which cannot be kept or looked for";
    return new Fault("invalid_argument", message, { cause: reason });
  }
  if (isFullDisk(reason)) {
    const message =
      "no space is left on the database's disk; nothing was stored. Free some, or move the database to a larger disk";
    return new Fault("resource_exhausted", message, { cause: reason });
  }
  return new Fault(codeOf(reason), `the database says: ${messageOf(reason)}`, { cause: reason });
}

/** Whether it only says that an earlier statement of the transaction failed: `in_failed_sql_transaction`. */
export function isAfterFailure(reason: unknown): boolean {
  for (let each = reason; each instanceof Error; each = each.cause)
    if (each instanceof pg.DatabaseError) return each.code === "25P02";
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
    // node-postgres throws plain errors for a socket that closed under it.
    /connection (terminated|ended|closed)|client has encountered a connection error|not queryable|timeout exceeded when trying to connect/i.test(
      reason.message,
    )
  );
}
