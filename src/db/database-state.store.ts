import { z } from "zod";
import type { Tx } from "./db.ts";
import { sql } from "./sql.ts";

const State = z.object({
  isStandby: z.boolean(),
  isReadOnly: z.boolean(),
  fsync: z.string(),
  fullPageWrites: z.string(),
  synchronousCommit: z.string(),
  synchronousStandbyNames: z.string(),
  /** The number of connections that a role without special rights may open, to all databases of the server. */
  mostConnections: z.number(),
  /** Those of all roles. */
  connections: z.number(),
  /** The limit of this role, and of this database; -1 is none. */
  roleLimit: z.number(),
  databaseLimit: z.number(),
  roleConnections: z.number(),
  databaseConnections: z.number(),
  role: z.string(),
  /** Null when no schema of the search path exists. */
  schema: z.string().nullable(),
  mayCreate: z.boolean(),
  /** A table of the schema that the role does not own, which a migration could not change. */
  foreignTable: z.string().nullable(),
  mayReadReplication: z.boolean(),
});

/** The state of a PostgreSQL server, as a role without special rights sees it. */
export type DatabaseState = z.output<typeof State> & {
  /** The standbys that are connected; empty when this role may not read them. */
  readonly standbys: readonly Standby[];
};

const StandbyRow = z.object({
  name: z.string(),
  /** `streaming` when it keeps up. */
  state: z.string().nullable(),
  /** `sync` or `quorum`: commits wait for it. */
  sync: z.string().nullable(),
  /** How much of the log it has not applied yet, in bytes; null when it has reported nothing. */
  lagBytes: z.number().nullable(),
});
type Standby = z.output<typeof StandbyRow>;

export async function readDatabaseState(tx: Tx): Promise<DatabaseState> {
  const [state] = await tx.many(
    State,
    sql`
      select
        pg_is_in_recovery() as "isStandby",
        current_setting('default_transaction_read_only')::boolean as "isReadOnly",
        current_setting('fsync') as fsync,
        current_setting('full_page_writes') as "fullPageWrites",
        current_setting('synchronous_commit') as "synchronousCommit",
        current_setting('synchronous_standby_names') as "synchronousStandbyNames",
        current_setting('max_connections')::integer
          - current_setting('superuser_reserved_connections')::integer
          - coalesce(current_setting('reserved_connections', true)::integer, 0) as "mostConnections",
        (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') as connections,
        role.rolconnlimit as "roleLimit",
        base.datconnlimit as "databaseLimit",
        (select count(*)::integer from pg_stat_activity where usename = role.rolname) as "roleConnections",
        (select count(*)::integer from pg_stat_activity where datname = base.datname) as "databaseConnections",
        role.rolname::text as role,
        current_schema()::text as schema,
        coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as "mayCreate",
        (select c.relname::text
         from pg_class as c
         where c.relnamespace = to_regnamespace(quote_ident(current_schema())) and c.relkind in ('r', 'p')
           and not pg_has_role(c.relowner, 'USAGE')
         order by c.relname limit 1) as "foreignTable",
        pg_has_role('pg_monitor', 'USAGE') as "mayReadReplication"
      from pg_roles as role, pg_database as base
      where role.rolname = current_user and base.datname = current_database()`,
  );
  if (state === undefined) throw new Error("the role or the database does not exist");
  if (!state.mayReadReplication) return { ...state, standbys: [] };
  const standbys = await tx.many(
    StandbyRow,
    sql`
      select
        application_name as name, state, sync_state as sync,
        pg_wal_lsn_diff(
          case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end,
          replay_lsn)::bigint as "lagBytes"
      from pg_stat_replication
      order by application_name`,
  );
  return { ...state, standbys };
}
