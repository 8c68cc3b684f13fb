import { afterAll, expect, test } from "vitest";
import { type DatabaseState, readDatabaseState } from "#db/database-state.store.ts";
import { openPostgres } from "#db/postgres.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import {
  judgeConnections,
  judgeDurability,
  judgeReplication,
  judgeRights,
  judgeRole,
} from "./judge-database.ts";

const url = await freshDatabase();
const owner = openPostgres({ url, poolSize: 2 });
afterAll(() => owner.close());
const state = await readDatabaseState(owner);

test("a primary that the role owns is fit for a farm", () => {
  expect(judgeRole(state).status).toBe("ok");
  expect(judgeRights(state).status).toBe("ok");
  expect(judgeConnections(state).status).toBe("ok");
  expect(judgeReplication(state)).toEqual({ status: "ok", detail: "no standby is connected" });
});

test("a restricted role that owns an empty schema is fit; one that may not create or change tables is not", async () => {
  const role = `farm_${process.pid}`;
  await owner.script(`create role ${role} login`);
  const asRole = async () => {
    const named = new URL(url);
    named.searchParams.set("user", role);
    const db = openPostgres({ url: named.href, poolSize: 1 });
    try {
      return await readDatabaseState(db);
    } finally {
      await db.close();
    }
  };
  try {
    expect(judgeRights(await asRole())).toMatchObject({
      status: "fail",
      fix: `GRANT CREATE ON SCHEMA public TO ${role}`,
    });

    await owner.script(`grant create on schema public to ${role}`);
    expect(judgeRights(await asRole())).toMatchObject({
      status: "fail",
      detail: expect.stringContaining("does not own the table"),
    });

    await owner.script(`
      create schema farm authorization ${role};
      alter role ${role} set search_path = farm;`);
    const restricted = await asRole();
    expect(judgeRights(restricted).status).toBe("ok");
    expect(judgeReplication(restricted).detail).toContain("GRANT pg_monitor");
  } finally {
    await owner.script(`drop owned by ${role}; drop role ${role}`);
  }
});

const cases: readonly [
  string,
  (given: DatabaseState) => { status: string; detail: string },
  Partial<DatabaseState>,
  string,
  RegExp,
][] = [
  ["a standby", judgeRole, { isStandby: true }, "fail", /a standby/],
  ["a read-only database", judgeRole, { isReadOnly: true }, "fail", /read_only is on/],
  [
    "commits that do not wait",
    judgeDurability,
    { synchronousCommit: "off" },
    "warn",
    /synchronous_commit is off/,
  ],
  ["too few connections", judgeConnections, { mostConnections: 8 }, "fail", /one server needs 10/],
  [
    "used connections",
    judgeConnections,
    { mostConnections: 97, connections: 90 },
    "warn",
    /90 of 97/,
  ],
  [
    "a limit of the role",
    judgeConnections,
    { roleLimit: 12, roleConnections: 9 },
    "warn",
    /9 of 12 connections of the role/,
  ],
  [
    "a synchronous standby that is away",
    judgeReplication,
    { synchronousStandbyNames: "*", standbys: [] },
    "fail",
    /commits wait/,
  ],
  [
    "a standby that is far behind",
    judgeReplication,
    { standbys: [{ name: "b", state: "streaming", sync: "async", lagBytes: 1024 ** 3 }] },
    "warn",
    /b is streaming, async, 1 GiB behind/,
  ],
];

test.each(cases)("%s is reported", (_, judge, changes, status, detail) => {
  const finding = judge({ ...state, fsync: "on", fullPageWrites: "on", ...changes });

  expect(finding.status).toBe(status);
  expect(finding.detail).toMatch(detail);
});
