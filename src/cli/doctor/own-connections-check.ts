import { messageOf } from "#core/fault.ts";
import { requestedConnection, requireOwnConnections } from "#db/own-connections.ts";
import { type Check, fail, ok } from "./check.ts";

/** Checks that no pooler gives the connections of a database to others between transactions. */
export function ownConnectionsCheck(url: string): Check {
  return {
    name: "connections",
    needs:
      "With GRANGE_DATABASE_URL: a pooler in front of the database keeps each connection for a session",
    fix: "Set pool_mode = session for this database, or name PostgreSQL itself in GRANGE_DATABASE_URL",
    async run() {
      try {
        await requireOwnConnections(() => requestedConnection(url));
        return ok("each connection keeps its session");
      } catch (reason) {
        return fail(messageOf(reason));
      }
    },
  };
}
