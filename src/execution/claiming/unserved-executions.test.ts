import { afterAll, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aRequest, aWorker } from "../execution.fixture.ts";
import { registerWorkers } from "../leasing/worker.store.ts";
import { submitExecutions } from "../submitting/submit-executions.store.ts";
import { unservedExecutions } from "./unserved-executions.ts";

const db = await freshDb();
afterAll(() => db.close());

const now = new Date("2026-01-01T00:00:00Z");
const seenSince = new Date(now.getTime() - 120_000);
const limits = { seenSince, declared: [], mostKinds: 2 };

beforeEach(() => db.script("truncate execution, worker cascade"));

const submit = (platform: Record<string, string>, count: number) =>
  db.transaction((tx) =>
    submitExecutions(
      tx,
      Array.from({ length: count }, () => aRequest({ platform })),
      now,
    ),
  );
const register = (platform: Record<string, string>, seenAt = now) =>
  db.transaction((tx) =>
    registerWorkers(tx, [aWorker(`worker-${platform["OSFamily"]}`, { platform })], seenAt),
  );

test("counts executions that no worker can run, and says what is missing", async () => {
  await register({ OSFamily: "linux" });
  await submit({ OSFamily: "linux" }, 1);
  const waiting = await submit({ OSFamily: "windows", ISA: "x86" }, 5);

  const found = await unservedExecutions(db, limits);

  expect(found).toMatchObject([{ count: 5 }]);
  expect(found[0]?.reason).toContain("it asks for ISA=x86, and no worker offers ISA");
  expect(waiting.map(({ executionId }) => executionId)).toContain(found[0]?.first);
});

test("is empty when a worker for them may be started, and when there is no worker at all", async () => {
  await submit({ OSFamily: "windows" }, 1);

  expect(await unservedExecutions(db, limits)).toEqual([]);
  await register({ OSFamily: "linux" });
  const declared = [{ platform: { OSFamily: "windows" }, sizeClass: 1, workers: 0 }];
  expect(await unservedExecutions(db, { ...limits, declared })).toEqual([]);
  expect(await unservedExecutions(db, limits)).toHaveLength(1);
});

test("names a few kinds", async () => {
  await register({});
  for (const gpu of ["a", "b", "c"]) await submit({ gpu }, 1);

  expect(await unservedExecutions(db, limits)).toHaveLength(2);
});

test("a worker that was lost long ago does not count", async () => {
  await register({ OSFamily: "linux" }, new Date(now.getTime() - 3_600_000));
  await submit({ OSFamily: "linux" }, 1);
  await register({ OSFamily: "mac" });

  expect(await unservedExecutions(db, limits)).toHaveLength(1);
});
