import { afterAll, beforeEach, expect, test } from "vitest";
import { allPlaces } from "#core/place-patterns.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { failedActionsOf, recentBuilds } from "./failed-builds.store.ts";
import { aHit, anInvocation, anOperation, atSecond } from "./invocation-rows.fixture.ts";
import { newestFailedBuilds } from "./newest-failed-builds.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.run(sql`truncate invocation, operation, cache_lookup, build cascade`));

/** Writes an invocation with build events. */
async function aBuild(
  id: string,
  second: number,
  { exit, name = "", patterns = ["//..."] }: { exit?: number; name?: string; patterns?: string[] },
) {
  await anInvocation(db, id, { second });
  await db.run(sql`
    insert into build (project, invocation, build_id, principal, first_heard_at, last_heard_at,
      command, patterns, exit_code, exit_name)
    values ('default', ${id}, ${id}, 'ada', ${atSecond(second)}, ${atSecond(second)}, 'test',
      ${patterns}, ${exit ?? null}, ${name})
  `);
}

const failedOnes = async (since = atSecond(0), places = allPlaces) =>
  newestFailedBuilds(await recentBuilds(db, { since, places, most: 50 }), 5).map(({ id }) => id);

test("a build failed when its events say so, until a newer one of the same targets follows", async () => {
  await aBuild("red", 1, { exit: 1, name: "BUILD_FAILURE" });
  await aBuild("other targets", 2, { exit: 3, name: "TESTS_FAILED", patterns: ["//x"] });
  await aBuild("stopped", 3, { exit: 8, name: "INTERRUPTED", patterns: ["//y"] });

  expect(await failedOnes()).toEqual(["other targets", "red"]);

  await aBuild("green", 4, { exit: 0, name: "SUCCESS" });
  expect(await failedOnes()).toEqual(["other targets"]);
  await aBuild("in progress", 5, { patterns: ["//x"] });
  expect(await failedOnes()).toEqual([]);
});

test("a tool without build events failed when one of its actions did", async () => {
  await anInvocation(db, "recc", { second: 1 });
  await anOperation(db, "recc", { second: 1, outcome: "succeeded" });
  await aHit(db, "recc", { digest: "a/1" });
  expect(await failedOnes()).toEqual([]);

  const failed = await anOperation(db, "recc", { second: 2, target: "//x", outcome: "timed_out" });

  expect(await failedOnes()).toEqual(["recc"]);
  expect(await failedActionsOf(db, { project: "default", id: "recc" }, 3)).toEqual([
    { executionId: failed, target: "//x", mnemonic: "CppCompile" },
  ]);
});

test("old builds, and builds at places that the caller may not read, are not shown", async () => {
  await aBuild("red", 1, { exit: 1 });

  expect(await failedOnes(atSecond(2))).toEqual([]);
  const elsewhere = { everywhere: false, patterns: [{ repository: "team/*", branch: "*" }] };
  expect(await failedOnes(atSecond(0), elsewhere)).toEqual([]);
});
