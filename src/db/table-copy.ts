import { z } from "zod";

/** A table's rows in a dump: one file in PostgreSQL's text format of COPY. */
export const DumpedTable = z.object({
  name: z.string(),
  /** In the order of the file. */
  columns: z.array(z.string()).min(1),
  rows: z.number().int().nonnegative(),
});
export type DumpedTable = z.infer<typeof DumpedTable>;

/** The state of a sequence after the dump of the tables: at least the highest value in them. */
export const DumpedSequence = z.object({
  name: z.string(),
  /** A bigint in decimal: it may exceed what a JSON number holds exactly. */
  lastValue: z.string().regex(/^-?\d+$/),
  isCalled: z.boolean(),
});
export type DumpedSequence = z.infer<typeof DumpedSequence>;

/** A dumped database without its rows. */
export const DumpedSchema = z.object({
  /** As reported by PostgreSQL: `18.4`. */
  serverVersion: z.string(),
  /** Names of the files of `migrations/` that had been applied, in order. */
  migrations: z.array(z.string()).min(1),
  sequences: z.array(DumpedSequence),
});
export type DumpedSchema = z.infer<typeof DumpedSchema>;

/** One lock for all backups of a farm, in any directory; the number is arbitrary but used only here. */
export const backupLock = 7_240_912;

/** A dump or a load may take hours: no limit that the server or the URL sets for ordinary statements applies to it. */
export const withoutTimeouts =
  "set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0; set idle_session_timeout = 0";
