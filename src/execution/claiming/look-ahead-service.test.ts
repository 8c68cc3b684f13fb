import { afterAll, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { actionDigest, aQueue, aRequest, aWorker, never } from "../execution.fixture.ts";
import { shareAhead } from "./share-ahead.ts";

const db = await freshDb();
const queue = await aQueue(db);
afterAll(async () => {
  await queue.stop();
  await db.close();
});

test("two workers are told about different waiting executions, and about none that run", async () => {
  const [one, other] = [aWorker("one"), aWorker("other")];
  for (const worker of [one, other]) await queue.register(worker);
  const requests = Array.from({ length: 6 }, (_, i) => aRequest({ invocation: `i${i % 2}` }));
  for (const request of requests) await queue.submit(request);
  const leased = await queue.claim(one, 1, 1_000, never);

  const first = await queue.lookAhead(one, 2);
  const second = await queue.lookAhead(other, 2);

  const told = [...first, ...second].map((each) => each.actionDigest.hash);
  expect(told).toHaveLength(4);
  expect(new Set([...told, ...leased.map((each) => each.actionDigest.hash)]).size).toBe(5);
  // Executions that were announced to it stay reserved for it.
  expect(await queue.lookAhead(one, 2)).toEqual(first);
  expect(await queue.lookAhead(aWorker("nobody"), 2)).toEqual([]);
});

test("executions that are expected later are announced after waiting ones, to one worker that can run them", async () => {
  const platform = { OSFamily: "plan9" };
  const [one, other] = [aWorker("p9-one", { platform }), aWorker("p9-other", { platform })];
  const linux = aWorker("penguin");
  for (const worker of [one, other, linux]) await queue.register(worker);
  const waits = aRequest({ platform });
  await queue.submit(waits);
  const hint = { project: "p", actionDigest: actionDigest("alike"), platform, sizeClass: 1 };
  queue.hintAhead(hint);

  const told = (await queue.lookAhead(one, 2)).map((each) => each.actionDigest);

  expect(told).toEqual([waits.actionDigest, hint.actionDigest]);
  expect(await queue.lookAhead(other, 2)).toEqual([]);
  const hashes = (await queue.lookAhead(linux, 16)).map((each) => each.actionDigest.hash);
  expect(hashes).not.toContain(hint.actionDigest.hash);
});

test("a worker is told about executions of its own lane first, then about the first of the queue", () => {
  const waiting = [1, 2, 1, 3, 2].map((lane, i) => ({ id: `e${i}` as never, lane }));
  const told = new Map([["e1", "another"]]);

  const shared = shareAhead(
    waiting,
    { instanceId: "me", lane: 2, most: 3 },
    { peek: (id) => told.get(id) },
  );

  expect(shared.map(({ id }) => id)).toEqual(["e4", "e0", "e2"]);
});
