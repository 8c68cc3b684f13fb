import { afterAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { allPlaces } from "#core/place-patterns.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { aQueue, aRequest } from "#execution/execution.fixture.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { countActions, countsOf } from "./count-actions.store.ts";
import { aHit, anInvocation, anOperation, atSecond } from "./invocation-rows.fixture.ts";
import { listActions } from "./list-actions.ts";
import { invocationList } from "./list-invocations.ts";
import { noteOperationEnds } from "./operation-ends.store.ts";
import { requestedBy } from "./requested-by.store.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.run(sql`truncate invocation, operation, cache_lookup, execution cascade`));

const name = { project: "default", id: "i" };
const everything = { ...name, state: undefined, text: undefined, after: undefined, limit: 100 };
const countsOfOne = async () => countsOf(await countActions(db, [name]), name);

test("a list goes through all invocations, the newest first, page by page, also where several began at once", async () => {
  for (let i = 0; i < 7; i++) await anInvocation(db, `i${i}`, { second: Math.floor(i / 3) });
  await anInvocation(db, "i0", { project: "other", second: 0 });

  const seen: string[] = [];
  let before: string | undefined;
  do {
    const query = { project: undefined, commit: undefined, before, limit: 2, places: allPlaces };
    const page = await invocationList(db, query, atSecond(10));
    seen.push(...page.invocations.map(({ project, id }) => `${project} ${id}`));
    before = page.next ?? undefined;
  } while (before !== undefined);

  expect(seen).toEqual([
    "default i6",
    "default i3",
    "default i4",
    "default i5",
    "default i0",
    "other i0",
    "default i1",
    "default i2",
  ]);
  const query = {
    project: "other",
    commit: undefined,
    before: undefined,
    limit: 5,
    places: allPlaces,
  };
  const { invocations, next } = await invocationList(db, query, atSecond(10));
  expect(invocations).toMatchObject([{ id: "i0", project: "other", state: "running" }]);
  expect(next).toBeNull();
});

test.each(["nonsense", "", Buffer.from("[1,2]").toString("base64url")])(
  "a place in the list that no list gave is refused: %j",
  async (before) => {
    const query = { project: undefined, commit: undefined, before, limit: 2, places: allPlaces };
    await expect(async () => invocationList(db, query, atSecond(0))).rejects.toThrow(
      "`before` must be the `next`",
    );
  },
);

test("counts tell what is queued and what executes by the queue, and what is over when the queue has forgotten it", async () => {
  const queue = await aQueue(db);
  const [first, second] = [aRequest(), aRequest()];
  await queue.submit(first);
  await queue.submit(second);
  await db.run(sql`
    update execution set state = 'leased', worker = 'w', worker_instance = 'w', epoch = 1,
      leased_at = queued_at, leased_until = queued_at + interval '1 minute'
    where id = ${first.id}
  `);
  await anInvocation(db, "i");
  for (const { id } of [first, second]) await anOperation(db, "i", { executionId: id });
  await anOperation(db, "i", { executionId: second.id, second: 1 });
  await anOperation(db, "i", { outcome: "succeeded" });
  await anOperation(db, "i", { outcome: "timed_out" });
  await anOperation(db, "i", { outcome: "cancelled" });
  await aHit(db, "i", { digest: "b/1" });
  await aHit(db, "i", { digest: "c/1", hit: false });

  expect(await countsOfOne()).toEqual({
    hits: 1,
    queued: 1,
    executing: 1,
    succeeded: 1,
    failed: 1,
    cancelled: 1,
  });
  await queue.stop();
});

test("an invocation without build events lasts until its last action ended", async () => {
  await anInvocation(db, "i");
  await anOperation(db, "i", { second: 20, outcome: "succeeded" });
  await anOperation(db, "i", { second: 30 });
  await anInvocation(db, "idle", { second: 5 });

  const query = { project: "default", commit: undefined, before: undefined, limit: 5 };
  const { invocations } = await invocationList(db, { ...query, places: allPlaces }, atSecond(500));

  expect(invocations).toMatchObject([
    { id: "idle", endedAt: atSecond(5).toISOString() },
    { id: "i", startedAt: atSecond(0).toISOString(), endedAt: atSecond(21).toISOString() },
  ]);
});

test("the end of an execution is noted with all operations that it served, once", async () => {
  await anInvocation(db, "i");
  const executionId = await anOperation(db, "i");
  await anOperation(db, "j", { executionId });
  const given = await anOperation(db, "i", { second: 1, outcome: "cancelled" });
  const end = (id: string, outcome: "succeeded" | "failed") => {
    const ended = { id, outcome, exitCode: 0, worker: "w", finishedAt: atSecond(9) };
    return noteOperationEnds(db, [ended as unknown as Parameters<typeof noteOperationEnds>[1][0]]);
  };

  await end(executionId, "succeeded");
  await end(executionId, "failed");
  await end(given, "succeeded");

  expect(await countsOfOne()).toMatchObject({ queued: 0, succeeded: 1, failed: 0, cancelled: 1 });
  expect((await listActions(db, everything)).actions).toMatchObject([
    { outcome: "succeeded", worker: "w", finishedAt: atSecond(9).toISOString() },
    { outcome: "cancelled" },
  ]);
  expect(await requestedBy(db, executionId)).toHaveLength(2);
});

test("actions come in the order in which they were asked for, hits and operations alike, whatever the size of pages", async () => {
  await anInvocation(db, "i");
  for (let i = 0; i < 6; i++) {
    await aHit(db, "i", {
      digest: `${String.fromCharCode(102 - i)}-x/1`,
      second: Math.floor(i / 2),
    });
    await anOperation(db, "i", { second: Math.floor(i / 2), outcome: "succeeded" });
  }
  const whole = await listActions(db, everything);

  for (const limit of [1, 2, 3, 5, 12]) {
    const seen: unknown[] = [];
    let after: string | undefined;
    do {
      const page = await listActions(db, { ...everything, limit, after });
      seen.push(...page.actions);
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(seen).toEqual(whole.actions);
  }
  expect(whole.actions).toHaveLength(12);
  expect(whole.actions.map(({ requestedAt }) => requestedAt)).toEqual(
    whole.actions.map(({ requestedAt }) => requestedAt).toSorted(),
  );
});

test("an action that a tool asked for twice is one line", async () => {
  await anInvocation(db, "i");
  const executionId = await anOperation(db, "i");
  await anOperation(db, "i", { executionId, second: 5 });
  await anOperation(db, "another", { executionId, second: -5 });

  const { actions } = await listActions(db, everything);

  expect(actions).toMatchObject([{ executionId, requestedAt: atSecond(0).toISOString() }]);
});

test.each([
  { state: "hit" as const, text: undefined, found: ["//hit"] },
  { state: "succeeded" as const, text: undefined, found: ["//a", "//b_50%"] },
  { state: "failed" as const, text: undefined, found: ["//c"] },
  { state: "cancelled" as const, text: undefined, found: ["//d"] },
  { state: undefined, text: "COMPILE", found: ["//a", "//c"] },
  { state: undefined, text: "b_50%", found: ["//b_50%"] },
  { state: undefined, text: "b%5", found: [] },
  { state: "queued" as const, text: undefined, found: [] },
])("actions can be asked for by state $state and text $text", async ({ state, text, found }) => {
  await anInvocation(db, "i");
  await aHit(db, "i", { digest: "b/1" });
  await anOperation(db, "i", { target: "//a", second: 1, outcome: "succeeded" });
  await anOperation(db, "i", { target: "//b_50%", mnemonic: "X", second: 2, outcome: "succeeded" });
  await anOperation(db, "i", { target: "//c", second: 3, outcome: "failed" });
  await anOperation(db, "i", { target: "//d", mnemonic: "X", second: 4, outcome: "cancelled" });

  const { actions } = await listActions(db, { ...everything, state, text });

  expect(actions.map(({ target }) => target)).toEqual(found);
});

test("what is open is told apart by the queue, however many lines are looked at for it", async () => {
  const queue = await aQueue(db);
  await anInvocation(db, "i");
  for (let i = 0; i < 9; i++) await anOperation(db, "i", { second: i });
  const request = aRequest();
  await queue.submit(request);
  await anOperation(db, "i", { executionId: request.id, second: 10 });

  const { actions, next } = await listActions(db, { ...everything, state: "queued", limit: 2 });

  expect(actions).toMatchObject([{ executionId: request.id }]);
  expect(next).toBeNull();
  await queue.stop();
});

test("of a hundred thousand operations, a page and a count read no more than their own", async () => {
  await anInvocation(db, "i");
  await db.run(sql`
    insert into operation (id, execution_id, project, invocation, principal, action_digest, target_id,
      action_mnemonic, joined, requested_at, watched_until, outcome, finished_at)
    select gen_random_uuid(), gen_random_uuid(), 'default', case when n % 5 = 0 then 'i' else 'i' || n % 5 end, 'ada', md5(n::text), '//t:' || n, 'CppCompile',
      false, ${atSecond(0)}::timestamptz + n * interval '1 ms', ${atSecond(0)}::timestamptz,
      case when n % 50 = 0 then 'failed' else 'succeeded' end, ${atSecond(0)}::timestamptz
    from generate_series(1, 100000) as n
  `);
  await db.run(sql`vacuum analyze operation`);

  const page = explaining(db);
  await listActions(page.tx, { ...everything, limit: 200 });
  const count = explaining(db);
  await countActions(count.tx, [name]);

  expect(await countsOfOne()).toMatchObject({ succeeded: 18_000, failed: 2_000 });
  const paged = page.nodes.filter((node) => node["Relation Name"] === "operation");
  expect(paged.length).toBeGreaterThan(0);
  for (const node of paged) expect(rowsReadBy(node)).toBeLessThan(2_000);
  const counted = count.nodes.filter((node) => node["Relation Name"] === "operation");
  expect(counted.length).toBeGreaterThan(0);
  for (const node of counted) expect(rowsReadBy(node)).toBeLessThan(25_000);
});

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

const rowsReadBy = (node: PlanNode) =>
  (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];

/** Runs statements and returns the plan that PostgreSQL used. */
function explaining(base: Tx): { readonly tx: Tx; readonly nodes: PlanNode[] } {
  const nodes: PlanNode[] = [];
  const gather = (node: PlanNode): void => {
    nodes.push(node);
    node.Plans?.forEach(gather);
  };
  const Explained = z.object({ "QUERY PLAN": z.array(z.object({ Plan: z.custom<PlanNode>() })) });
  const tx: Tx = {
    ...base,
    async many(shape, query) {
      const rows = await base.many(Explained, sql`explain (analyze, format json) ${query}`);
      for (const row of rows) for (const { Plan } of row["QUERY PLAN"]) gather(Plan);
      return base.many(shape, query);
    },
  };
  return { tx, nodes };
}
