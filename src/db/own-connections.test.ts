import { expect, test } from "vitest";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { pgBouncerNeed, startPgBouncer } from "../../test/support/pgbouncer.ts";
import { requestedConnection, requireOwnConnections } from "./own-connections.ts";
import { openPostgres } from "./postgres.ts";
import { sql } from "./sql.ts";

const url = await freshDatabase();
const refusal =
  /pooler that shares connections between transactions.*pool_mode = session.*PostgreSQL itself/;

test("connections to PostgreSQL itself are their users' own", async () => {
  await expect(requireOwnConnections(() => requestedConnection(url))).resolves.toBeUndefined();
});

test("connections that take turns on one of the server's are refused, with what to do", async () => {
  // As a pooler does it between transactions
  const shared = await requestedConnection(url);
  const open = async () => ({
    backend: () => shared.backend(),
    backendOfTransaction: () => shared.backend(),
    close: async () => {},
  });

  await expect(requireOwnConnections(open)).rejects.toThrow(refusal);

  await shared.close();
});

test("a pooler is also found out when another client has the first connection's backend", async () => {
  const backends = [1, 3, 1];
  const next = async () => backends.shift() ?? 1;
  const close = async () => {};
  const open = async () => ({ backend: next, backendOfTransaction: async () => 2, close });

  await expect(requireOwnConnections(open)).rejects.toThrow(refusal);
});

test.each(["transaction", "statement"] as const)(
  "PgBouncer with pool_mode = %s is refused",
  needs(pgBouncerNeed),
  async (mode) => {
    const pooler = await startPgBouncer(url, mode);
    try {
      await expect(requireOwnConnections(() => requestedConnection(pooler.url))).rejects.toThrow(
        refusal,
      );
    } finally {
      await pooler.stop();
    }
  },
);

test(
  "PgBouncer with pool_mode = session is accepted: statements keep their names, and notifications arrive",
  needs(pgBouncerNeed),
  async () => {
    const pooler = await startPgBouncer(url, "session");
    const db = openPostgres({ url: pooler.url, poolSize: 2 });
    try {
      await requireOwnConnections(() => requestedConnection(pooler.url));
      const heard = new Promise((resolve) => void db.listen("notices", resolve));
      await db.listen("notices", () => {});
      for (let n = 0; n < 3; n++)
        await db.transaction((tx) => tx.run(sql`select pg_notify('notices', ${`call ${n}`})`));

      expect(await heard).toBe("call 0");
    } finally {
      await db.close();
      await pooler.stop();
    }
  },
);

test("a database that cannot be reached is told as that", async () => {
  const nobody = "postgres://grange@127.0.0.1:1/grange";

  await expect(requireOwnConnections(() => requestedConnection(nobody))).rejects.toMatchObject({
    code: "unavailable",
  });
});
