import { afterAll, expect, test } from "vitest";
import { allPlaces, noPlaces } from "#core/place-patterns.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { flakyActions } from "./flaky-actions.store.ts";
import { anInvocation, anOperation, atSecond } from "./invocation-rows.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

const wanted = { since: atSecond(0), project: null, places: allPlaces, most: 10 };

test("an action that succeeded in one build and failed in another is flaky; one that always fails is not", async () => {
  await anInvocation(db, "first", { second: 1 });
  await anInvocation(db, "second", { second: 2 });
  const action = { target: "//net:test", mnemonic: "TestRunner", hash: "b".repeat(64) };
  await anOperation(db, "first", { ...action, second: 1, outcome: "succeeded" });
  const failed = await anOperation(db, "second", { ...action, second: 2, outcome: "failed" });
  // Two builds that waited for the same execution: it counts once.
  await anOperation(db, "first", { ...action, executionId: failed, second: 3, outcome: "failed" });
  // Another version of the same target.
  await anOperation(db, "first", {
    ...action,
    hash: "c".repeat(64),
    second: 4,
    outcome: "succeeded",
  });
  await anOperation(db, "second", { target: "//broken", second: 5, outcome: "failed" });

  expect(await flakyActions(db, wanted)).toEqual([
    {
      project: "default",
      name: "TestRunner //net:test",
      runs: 3,
      failures: 1,
      actions: 1,
      examples: [{ at: atSecond(3), outcome: "failed", exitCode: null, execution: failed }],
    },
  ]);
  expect(await flakyActions(db, { ...wanted, places: noPlaces })).toEqual([]);
  expect(await flakyActions(db, { ...wanted, project: "other" })).toEqual([]);
  expect(await flakyActions(db, { ...wanted, since: atSecond(60) })).toEqual([]);
});
