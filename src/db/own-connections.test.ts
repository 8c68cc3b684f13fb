import { expect, test } from "vitest";
import { freshDatabase } from "../../test/support/fresh-db.ts";
import { requestedConnection, requireOwnConnections } from "./own-connections.ts";

const url = await freshDatabase();

test("connections to PostgreSQL itself are their users' own", async () => {
  await expect(requireOwnConnections(() => requestedConnection(url))).resolves.toBeUndefined();
});

test("connections that take turns on one of the server's are refused, with what to do", async () => {
  // As a pooler does it between transactions
  const shared = await requestedConnection(url);
  const open = async () => ({ backend: () => shared.backend(), close: async () => {} });

  await expect(requireOwnConnections(open)).rejects.toThrow(
    /pooler that shares connections between transactions.*pool_mode = session.*PostgreSQL itself/,
  );

  await shared.close();
});

test("a database that cannot be reached is told as that", async () => {
  const nobody = "postgres://grange@127.0.0.1:1/grange";

  await expect(requireOwnConnections(() => requestedConnection(nobody))).rejects.toMatchObject({
    code: "unavailable",
  });
});
