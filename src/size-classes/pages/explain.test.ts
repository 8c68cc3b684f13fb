import { afterAll, beforeEach, expect, test } from "vitest";
import { ExecutionSizeClass, SizeClassKeyDetail } from "#api/size-class.ts";
import { sql } from "#db/sql.ts";
import { executionId } from "#execution/execution.fixture.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import type { PastRun } from "../past-run.ts";
import { explainExecution } from "./explain-execution.ts";
import { explainKey } from "./explain-key.ts";
import {
  aDecision,
  aKey,
  anAttempt,
  anEndedExecution,
  atSecond,
} from "./size-class-rows.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.run(sql`truncate execution, size_class_key, size_class_history cascade`));

const explain = async (id: Parameters<typeof explainExecution>[1]) =>
  ExecutionSizeClass.parse(await explainExecution(db, id));

test("a missing execution has no explanation", async () => {
  expect(await explainExecution(db, executionId())).toBeUndefined();
});

test("when the duration was unknown, the permitted time is not shown as expected", async () => {
  const id = await anEndedExecution(db);
  await aDecision(db, id, { alternatives: [{ sizeClass: 1 }, { sizeClass: 2 }] });

  const { decisions } = await explain(id);

  expect(decisions[0]?.sentences[1]).toMatch(/^Its duration there was not known; its timeout was /);
});

test("after a lost worker, the retry counts as a choice of the same class", async () => {
  const id = await anEndedExecution(db, { attempt: 2 });
  await aDecision(db, id);
  await aDecision(db, id, { number: 2, purpose: "retry", second: 6 });

  expect((await explain(id)).sentence).toBe("Size class 1 was chosen, and again for another try.");
});

test("decisions are shown in order, each with its result", async () => {
  const id = await anEndedExecution(db, { sizeClass: 2, attempt: 3 });
  await aDecision(db, id, {
    alternatives: [
      { sizeClass: 1, expectedMs: 8_000, bandMs: [4_000, 15_000] },
      { sizeClass: 2, remark: "nobody knows it" },
    ],
  });
  await aDecision(db, id, {
    number: 2,
    purpose: "retry",
    sizeClass: 2,
    second: 6,
    reason: { kind: "retry-after-out-of-memory", text: "it needs more" },
  });
  await anAttempt(db, id, { from: 1, to: 2, outcome: "worker_lost" });
  await anAttempt(db, id, {
    attempt: 2,
    from: 3,
    to: 6,
    outcome: "out_of_memory",
    peakMemoryBytes: 2e9,
  });
  await anAttempt(db, id, { attempt: 3, from: 7, to: 10, sizeClass: 4 });

  const { decisions, sentence } = await explain(id);

  expect(sentence).toBe("Size class 1 was chosen first, and size class 2 in the end.");
  expect(
    decisions.map(({ runs }) => runs.map(({ attempt, outcome }) => [attempt, outcome])),
  ).toEqual([
    [
      [1, "worker_lost"],
      [2, "out_of_memory"],
    ],
    [[3, "succeeded"]],
  ]);
  expect(decisions.flatMap(({ sentences }) => sentences)).toEqual([
    "Size class 1 was chosen: it costs least.",
    "It was expected to run for 8.0 s, between 4.0 s and 15.0 s eight times in ten, and allowed 1 min 00 s.",
    "Size class 2: nobody knows it.",
    "It ran on size class 1 for 1.0 s, used 1.0 s of CPU and 47.7 MiB of memory at most, and lost its worker.",
    "It ran on size class 1 for 3.0 s, used 1.0 s of CPU and 1.86 GiB of memory at most, and ran out of memory.",
    "Size class 2 was chosen for another try: it needs more.",
    "It was expected to run for 8.0 s, and allowed 1 min 00 s.",
    "It ran on size class 4 (which was idle) for 3.0 s, used 1.0 s of CPU and 47.7 MiB of memory at most, and succeeded.",
  ]);
});

test("a second run belongs to the decision that started it, and is shown once when it wins", async () => {
  const id = await anEndedExecution(db, { attempt: 2 });
  const second = await anEndedExecution(db, { hedgeOf: id, sizeClass: 2, isSized: false });
  await aDecision(db, id);
  await aDecision(db, id, { number: 2, purpose: "hedge", sizeClass: 2, second: 5 });
  await anAttempt(db, id, { from: 1, to: 9, outcome: "worker_lost", worker: "slow" });
  await anAttempt(db, id, { attempt: 2, from: 6, to: 9, sizeClass: 2, worker: "fast" });
  await anAttempt(db, second, { from: 6, to: 9, sizeClass: 2, worker: "fast" });

  const { decisions, sentence } = await explain(id);
  const beside = await explain(second);

  expect(sentence).toBe("Size class 1 was chosen, and a second run was begun beside it.");
  expect(
    decisions.map(({ runs }) => runs.map(({ executionId: ran, worker }) => [ran, worker])),
  ).toEqual([[[id, "slow"]], [[second, "fast"]]]);
  expect(beside).toMatchObject({ secondRunOf: id, decisions: [{ number: 1 }, { number: 2 }] });
  expect(beside.sentence).toContain(`It runs at the same time as execution ${id}`);
});

test("an unfinished execution is marked", async () => {
  const id = await anEndedExecution(db);
  await aDecision(db, id);
  await db.run(sql`
    update execution set state = 'leased', outcome = null, finished_at = null, worker = 'w',
      worker_instance = 'i', leased_at = ${atSecond(1)}, leased_until = ${atSecond(90)},
      started_at = ${atSecond(2)} where id = ${id}
  `);

  const { decisions } = await explain(id);

  expect(decisions[0]?.runs).toMatchObject([{ outcome: null, finishedAt: null, worker: "w" }]);
  expect(decisions[0]?.sentences.at(-1)).toBe("It runs on size class 1 now.");
});

test.each([
  { row: { isSized: false }, says: "only one size class could run it" },
  { row: { isSized: false, most: 1 }, says: "It asks for size class 1 and no other" },
  { row: { isSized: true }, says: "has been deleted" },
])("where there is no decision it says why: $says", async ({ row, says }) => {
  const { decisions, sentence } = await explain(await anEndedExecution(db, row));

  expect(decisions).toEqual([]);
  expect(sentence).toContain(says);
});

test("a decision of another version is shown as far as it can be read", async () => {
  const id = await anEndedExecution(db);
  await aDecision(db, id, {
    reason: { kind: "by-the-moon", text: "it is full" },
    alternatives: [],
  });
  await db.run(sql`update size_class_decision set alternatives = '[{"sizeClass": "two"}, {}]'`);

  expect((await explain(id)).decisions).toMatchObject([
    { reason: { kind: "by-the-moon", text: "it is full" }, alternatives: [] },
  ]);
});

const past = (changes: Partial<PastRun> = {}): PastRun => ({
  end: "succeeded",
  durationMs: 3_000,
  timeoutMs: 60_000,
  at: atSecond(1).getTime(),
  ...changes,
});

test("a key shows its runs by class, the estimates of its latest decision, and the latest decisions", async () => {
  await aKey(db, "a:k", { runs: { 1: [past({ end: "failed" }), past({ peakMemoryBytes: 1e6 })] } });
  for (let n = 0; n < 25; n++) {
    const id = await anEndedExecution(db, { endSecond: n + 20 });
    await anAttempt(db, id, { from: n + 12, to: n + 20 });
    const alternatives = n === 23 ? [{ sizeClass: 2, expectedMs: 7_000 }] : [{ sizeClass: 1 }];
    await aDecision(db, id, { second: n, alternatives });
  }

  const key = SizeClassKeyDetail.parse(
    await explainKey(db, { project: "p", domain: undefined, key: "a:k" }),
  );

  expect(key).toMatchObject({ level: "action", title: "CppCompile //a", domain: "protected" });
  expect(key.classes).toMatchObject([
    { sizeClass: 1, runs: [{ end: "failed" }, { peakMemoryBytes: 1e6 }], estimate: null },
    { sizeClass: 2, runs: [], estimate: { expectedMs: 7_000 } },
  ]);
  expect(key.decisions).toHaveLength(20);
  expect(key.decisions[0]?.decidedAt).toBe(atSecond(24).toISOString());
  expect(key.decisions[0]?.runs).toHaveLength(1);
});

test("of a key in several trust domains, the most recent one is shown unless one is named", async () => {
  await aKey(db, "a:k", { second: 5 });
  await aKey(db, "a:k", { domain: "pr/7", second: 9 });
  const asked = { project: "p", key: "a:k" };

  expect(await explainKey(db, { ...asked, domain: undefined })).toMatchObject({ domain: "pr/7" });
  expect(await explainKey(db, { ...asked, domain: "protected" })).toMatchObject({
    domain: "protected",
  });
  expect(await explainKey(db, { ...asked, domain: "user/eve" })).toBeUndefined();
});
