import { afterAll, beforeEach, expect, test } from "vitest";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { createToken } from "./create-token.ts";
import { insertGrant, listGrants } from "./grant.store.ts";
import type { Grant } from "./principal.ts";
import { removeGrants, revokeToken } from "./take-rights-away.ts";
import { listTokens } from "./token.store.ts";

const now = new Date("2026-01-01T00:00:00Z");
const everything: Grant = {
  verb: "*",
  repository: "*",
  branch: "*",
  priorityCap: null,
  top: true,
};
const anyonesRights = {
  principal: "anyone",
  verb: "*",
  repository: undefined,
  branch: undefined,
} as const;

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() =>
  db.transaction(async (tx) => {
    await tx.run(sql`delete from token`);
    await tx.run(sql`delete from grant_rule`);
    await insertGrant(tx, "anyone", everything, "grange");
  }),
);

/** Makes only these principals administrators, each with a token; returns the ids of the tokens. */
function administeredBy(...administrators: readonly string[]): Promise<string[]> {
  return db.transaction(async (tx) => {
    const made: string[] = [];
    for (const name of administrators) {
      await insertGrant(tx, name, everything, "root");
      const wanted = { principal: name, createdBy: "root", expiresInMs: undefined };
      made.push((await createToken(tx, wanted, now)).id);
    }
    await removeGrants(tx, anyonesRights, now);
    return made;
  });
}

test("a new farm is not narrowed before somebody else can administer it", async () => {
  await expect(db.transaction((tx) => removeGrants(tx, anyonesRights, now))).rejects.toMatchObject({
    code: "failed_precondition",
    message: expect.stringContaining("`grange grant add NAME '*'`"),
  });

  expect((await listGrants(db)).map(({ principal }) => principal)).toEqual(["anyone"]);
});

test.each<[string, Partial<Grant>, number | undefined]>([
  ["has a grant, but no token that is good", {}, -1],
  ["administers one repository only", { repository: "rxjs" }, undefined],
  ["may do all but administer", { verb: "submit" }, undefined],
])("who %s does not count", async (_, part, expiresInMs) => {
  await db.transaction(async (tx) => {
    await insertGrant(tx, "alice", { ...everything, ...part }, "root");
    await createToken(tx, { principal: "alice", createdBy: "root", expiresInMs }, now);
  });

  await expect(db.transaction((tx) => removeGrants(tx, anyonesRights, now))).rejects.toThrow(
    "nobody could administer the farm",
  );
});

test("the last token of the last administrator is not revoked", async () => {
  const ids = await administeredBy("alice");

  await expect(db.transaction((tx) => revokeToken(tx, ids[0] ?? "", "alice", now))).rejects.toThrow(
    "nobody could administer the farm",
  );

  expect((await listTokens(db))[0]?.revokedAt).toBeNull();
});

test("of two administrators who revoke each other at once, one remains", async () => {
  const ids = await administeredBy("alice", "bob");

  const outcomes = await Promise.allSettled(
    ids.map((id) => db.transaction((tx) => revokeToken(tx, id, "other", now))),
  );

  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect((await listTokens(db)).filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1);
});

test("revoking a token twice, and at once, keeps who did it first", async () => {
  const ids = await administeredBy("alice", "bob");
  const [id = ""] = ids;

  const both = await Promise.all(
    ["carol", "dave"].map((by) => db.transaction((tx) => revokeToken(tx, id, by, now))),
  );

  expect(both[0]?.revokedBy).toBe(both[1]?.revokedBy);
});

test("what is not there cannot be taken away", async () => {
  await administeredBy("alice");

  await expect(
    db.transaction((tx) => removeGrants(tx, { ...anyonesRights, principal: "nobody" }, now)),
  ).rejects.toThrow("nobody has no such grant");
  await expect(db.transaction((tx) => revokeToken(tx, "no-such-id", "alice", now))).rejects.toThrow(
    'there is no token "no-such-id"',
  );
});

test("a grant that is given twice is there once, and patterns tell grants apart", async () => {
  await administeredBy("alice");
  const on = (branch: string): Grant => ({ ...everything, verb: "submit", branch, top: false });

  const isNew = await db.transaction(async (tx) => [
    await insertGrant(tx, "bob", on("main"), "alice"),
    await insertGrant(tx, "bob", on("main"), "alice"),
    await insertGrant(tx, "bob", on("release"), "alice"),
  ]);
  const named = {
    principal: "bob",
    verb: "submit",
    repository: undefined,
    branch: "main",
  } as const;
  const removed = await db.transaction((tx) => removeGrants(tx, named, now));

  expect(isNew).toEqual([true, false, true]);
  expect(removed).toBe(1);
});
