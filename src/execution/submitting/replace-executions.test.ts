import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aRequest, executionId } from "../execution.fixture.ts";
import type { ExecutionRequest } from "../execution.ts";
import { lockForReplacing, replaceExecutions } from "./replace-executions.store.ts";
import { submitExecutions } from "./submit-executions.store.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.script("truncate execution, worker cascade"));

const queuedAt = new Date("2030-01-01T00:00:00Z");
const submit = (...requests: ExecutionRequest[]) =>
  db.transaction((tx) => submitExecutions(tx, requests, queuedAt));
const replace = (request: ExecutionRequest, priority: number, top = false) =>
  db.transaction(async (tx) => {
    await lockForReplacing(tx, [request.id]);
    return replaceExecutions(tx, [{ id: request.id, priority, top }]);
  });

async function placeOf({ id }: ExecutionRequest) {
  const [row] = await db.many(
    z.object({ priority: z.number(), lane: z.number(), place: z.number(), queuedAt: z.date() }),
    sql`select priority, lane, place, queued_at as "queuedAt" from execution where id = ${id}`,
  );
  return row;
}

test.each([
  { priority: -50, top: false, expectedDurationMs: 5_000 },
  { priority: 50, top: false },
  { priority: 0, top: true },
])("a new place is that of a request with priority $priority, top: $top", async (wanted) => {
  const moved = aRequest({ ...wanted, priority: 7, top: false });
  const model = aRequest({ ...wanted });
  await submit(moved, model);

  const count = await replace(moved, wanted.priority, wanted.top);

  expect(count).toBe(1);
  expect(await placeOf(moved)).toEqual(await placeOf(model));
});

test("an execution that leaves the top class returns to its earlier lane", async () => {
  const request = aRequest();
  await submit(request);
  const before = await placeOf(request);

  await replace(request, 0, true);
  await replace(request, 0, false);

  expect(await placeOf(request)).toEqual(before);
});

test("an unchanged place is not counted, and finished or unknown executions are not changed", async () => {
  const [same, over] = [aRequest(), aRequest()];
  await submit(same, over);
  await db.run(sql`
    update execution set state = 'finished', outcome = 'cancelled', message = '', finished_at = ${queuedAt}
    where id = ${over.id}
  `);
  const before = await placeOf(over);

  expect(await replace(same, 0)).toBe(0);
  expect(await replace(over, -9)).toBe(0);
  expect(await replace(aRequest({ id: executionId() }), -9)).toBe(0);
  expect(await placeOf(over)).toEqual(before);
});
