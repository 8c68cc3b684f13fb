import { afterAll, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aQueue, aRequest, aWorker, executionId, never } from "../execution.fixture.ts";
import type { Candidate } from "./order-claims.ts";
import { RecentLooks } from "./recent-looks.ts";

const db = await freshDb();
afterAll(() => db.close());

function candidate(lane: number): Candidate {
  const ownerLane = lane % 2;
  const queuedAt = new Date(0);
  return {
    id: executionId(),
    sizeClass: 1,
    lane,
    ownerLane,
    place: lane,
    priority: 0,
    queuedAt,
  };
}

const many = Array.from({ length: 300 }, (_, lane) => candidate(lane));
const nothingRuns = { lanes: new Map<number, number>(), owners: new Map<number, number>() };
const at = (ms: number) => new Date(1_000_000 + ms);

test("the next claims choose from what is left, and count what was chosen as running", () => {
  const looks = new RecentLooks();
  looks.keep("kind", { candidates: many, busy: nothingRuns }, at(0));
  looks.chosen("kind", many.slice(0, 3));
  const found = looks.find("kind", at(249), 34);
  expect(found?.candidates).toEqual(many.slice(3));
  expect([...(found?.busy.lanes ?? [])]).toEqual([
    [0, 1],
    [1, 1],
    [2, 1],
  ]);
  expect([...(found?.busy.owners ?? [])]).toEqual([
    [0, 2],
    [1, 1],
  ]);
});

test("a look is not used when it is old, of another kind, cheap, used up or out of date", () => {
  const looks = new RecentLooks();
  const keep = (candidates = many) => looks.keep("kind", { candidates, busy: nothingRuns }, at(0));
  keep();
  expect(looks.find("other", at(1), 34)).toBeUndefined();
  expect(looks.find("kind", at(250), 34)).toBeUndefined();
  keep(many.slice(0, 255));
  expect(looks.find("kind", at(1), 34)).toBeUndefined();
  keep();
  expect(looks.find("kind", at(1), 300)).toBeUndefined();
  keep();
  looks.forget("kind");
  expect(looks.find("kind", at(1), 34)).toBeUndefined();
});

test("two servers hand out each execution of a long queue once", async () => {
  const queues = [await aQueue(db), await aQueue(db)];
  const [one] = queues;
  const workers = [aWorker("a"), aWorker("b")];
  for (const [n, worker] of workers.entries()) await queues[n]?.register(worker);
  const requests = Array.from({ length: 300 }, (_, n) => aRequest({ invocation: `build ${n}` }));
  await one?.transaction((tx) => one.submitIn(tx, requests));
  const had: string[] = [];
  for (let n = 0; n < 150; n++) {
    const leased = await Promise.all(
      queues.map((queue, i) => queue.claim(workers[i] ?? aWorker("a"), 1, 60_000, never)),
    );
    had.push(...leased.flat().map(({ lease }) => lease.executionId));
  }
  expect(had.toSorted()).toEqual(requests.map(({ id }) => id).toSorted());
  for (const queue of queues) await queue.stop();
});
