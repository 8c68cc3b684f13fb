import type { z } from "zod";
import type { Sql } from "./sql.ts";
import type { KindOfWork } from "./time-limits.ts";

/**
 * A transaction: statements that commit together.
 *
 * Store functions take a Tx and not a Db: the caller knows what must happen together, and so decides where the
 * transaction begins and ends.
 */
export interface Tx {
  /** Runs a statement and parses each row. A row that does not fit is a bug in the store. */
  many<Row extends z.ZodType>(row: Row, statement: Sql): Promise<z.output<Row>[]>;
  /** Runs a statement; returns how many rows it changed. */
  run(statement: Sql): Promise<number>;
  /** Runs several statements without values, such as a migration. */
  script(text: string): Promise<void>;
}

export interface Db extends Tx {
  /**
   * Commits what `work` did when it resolves, nothing of it when it throws. PostgreSQL ends what takes longer than the
   * kind of work may; statements outside a transaction are calls.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, kind?: KindOfWork): Promise<T>;
  /**
   * Calls `heard` for each NOTIFY on a channel, and once with an empty payload
   * after the connection was lost and is back: notifications may have been missed.
   */
  listen(channel: string, heard: (payload: string) => void): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}
