import type { Db } from "./db.ts";

/**
 * The same database for background work: single statements also run in a transaction with the limits of maintenance.
 */
export function forMaintenance(db: Db): Db {
  return {
    ...db,
    many: (row, statement) => db.transaction((tx) => tx.many(row, statement), "maintenance"),
    run: (statement) => db.transaction((tx) => tx.run(statement), "maintenance"),
    transaction: (work, kind = "maintenance") => db.transaction(work, kind),
  };
}
