import type { z } from "zod";
import type { Sql } from "./sql.ts";
import type { KindOfWork } from "./time-limits.ts";

/**
 * A transaction: statements that are committed together.
 *
 * Store functions have a Tx parameter, not a Db: the caller knows which changes belong together, and so decides where
 * the transaction begins and ends.
 */
export interface Tx {
  /** Runs a statement and parses each row. A row that does not match the schema is a bug in the store. */
  many<Row extends z.ZodType>(row: Row, statement: Sql): Promise<z.output<Row>[]>;
  /** Runs a statement; returns how many rows it changed. */
  run(statement: Sql): Promise<number>;
  /** Runs several statements without values, such as a migration. */
  script(text: string): Promise<void>;
}

export interface Db extends Tx {
  /**
   * Commits the changes of `work` when it resolves; rolls back when it throws. PostgreSQL cancels work above the time
   * limit of its kind; statements outside a transaction have the kind `call`.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, kind?: KindOfWork): Promise<T>;
  /**
   * Calls `heard` for each NOTIFY on a channel, and once with an empty payload after a lost connection was
   * re-established: notifications may have been missed.
   */
  listen(channel: string, heard: (payload: string) => void): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}
