import { memorySizeText } from "#core/memory-size.ts";
import type { DatabaseState } from "#db/database-state.store.ts";
import { type Finding, fail, ok, warn } from "./check.ts";

/** The connections of one server: a pool of 8, one that listens, and one for maintenance by hand. */
const connectionsOfServer = 10;

/** A standby that is this far behind loses minutes of work when it is promoted, unless commits wait for it. */
const mostLagBytes = 64 * 1024 ** 2;

export function judgeRole({ isStandby, isReadOnly }: DatabaseState): Finding {
  if (isStandby)
    return fail(
      "it is a standby, to which nothing can be written",
      "Name the primary, or primary and standbys: postgres://USER@ONE,TWO/DATABASE?target_session_attrs=read-write",
    );
  if (isReadOnly)
    return fail(
      "default_transaction_read_only is on",
      "Turn it off for the role, the database or the server",
    );
  return ok("it accepts writes");
}

/** Judges the settings without which an acknowledged change can be lost. */
export function judgeDurability(state: DatabaseState): Finding {
  const { fsync, fullPageWrites, synchronousCommit } = state;
  const wrong = [
    ...(fsync === "on" ? [] : ["fsync"]),
    ...(fullPageWrites === "on" ? [] : ["full_page_writes"]),
    ...(synchronousCommit === "off" ? ["synchronous_commit"] : []),
  ];
  if (wrong.length === 0)
    return ok(`fsync and full_page_writes are on, synchronous_commit is ${synchronousCommit}`);
  return warn(
    `${wrong.join(", ")} ${wrong.length === 1 ? "is" : "are"} off: a crash loses changes that the farm has acknowledged`,
  );
}

export function judgeConnections(state: DatabaseState): Finding {
  const limits = [
    { of: "the server", most: state.mostConnections, used: state.connections },
    { of: "the role", most: state.roleLimit, used: state.roleConnections },
    { of: "the database", most: state.databaseLimit, used: state.databaseConnections },
  ].filter(({ most }) => most >= 0);
  const [tightest] = limits.toSorted((a, b) => a.most - a.used - (b.most - b.used));
  if (tightest === undefined) return ok("no limit");
  const { of, most, used } = tightest;
  const detail = `${used} of ${most} connections of ${of} are open`;
  if (most < connectionsOfServer) return fail(`${detail}; one server needs ${connectionsOfServer}`);
  return most - used < connectionsOfServer
    ? warn(`${detail}; another server needs ${connectionsOfServer}`)
    : ok(detail);
}

export function judgeRights(state: DatabaseState): Finding {
  const { role, schema, mayCreate, foreignTable } = state;
  const name = schema ?? "public";
  if (schema === null)
    return fail(`no schema of the search path of ${role} exists`, `CREATE SCHEMA public`);
  if (!mayCreate)
    return fail(
      `${role} may not create tables in the schema ${name}`,
      `GRANT CREATE ON SCHEMA ${name} TO ${role}`,
    );
  if (foreignTable !== null)
    return fail(
      `${role} does not own the table ${foreignTable} of the schema ${name}, so migrations cannot change it`,
      `ALTER TABLE ${foreignTable} OWNER TO ${role}, and so for all tables of the farm`,
    );
  return ok(`${role} may create tables in the schema ${name}, and owns those that exist`);
}

export function judgeReplication(state: DatabaseState): Finding {
  const { standbys, mayReadReplication, synchronousStandbyNames, role } = state;
  if (!mayReadReplication)
    return ok(`${role} may not read it (GRANT pg_monitor TO ${role} allows it)`);
  const isSynchronous = standbys.some(({ sync }) => sync === "sync" || sync === "quorum");
  if (synchronousStandbyNames !== "" && !isSynchronous)
    return fail(
      `synchronous_standby_names is ${synchronousStandbyNames}, and no such standby is connected: commits wait for one`,
      "Start the standby, or empty synchronous_standby_names",
    );
  if (standbys.length === 0) return ok("no standby is connected");
  const texts = standbys.map(
    ({ name, state: now, sync, lagBytes }) =>
      `${name} is ${now ?? "connected"}, ${sync ?? "async"}, ${lagBytes === null ? "lag unknown" : `${memorySizeText(Math.max(0, lagBytes))} behind`}`,
  );
  const isLate = standbys.some(
    ({ state: now, lagBytes }) => now !== "streaming" || (lagBytes ?? 0) > mostLagBytes,
  );
  return isLate ? warn(texts.join("; ")) : ok(texts.join("; "));
}
