import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../test/support/fresh-db.ts";
import { actionDigest, aRequest, aWorker, movableClock, never } from "./execution.fixture.ts";
import { openTestQueues } from "./execution-queue.fixture.ts";
import { countDurations } from "./expected-duration.store.ts";
import { kinOf } from "./kin.ts";

const db = await freshDb();
afterAll(() => db.close());
const queues = openTestQueues(db);
beforeEach(() =>
  db.script(`
    truncate execution, worker cascade; truncate expected_duration;
    update expected_duration_mark set counted_until = now()
  `),
);
afterEach(() => queues.closeAll());

const traits = {
  configuration: "",
  commandDigest: actionDigest("cc"),
  platform: { OSFamily: "linux" },
  target: "//lib:strings",
  mnemonic: "CppCompile",
};

async function aFarm() {
  const clock = movableClock(Date.now());
  const queue = await queues.open({ clock });
  const worker = aWorker("w");
  await queue.register(worker);

  const claimOne = async () => {
    const [held] = await queue.claim(worker, 1, 5_000, never);
    if (held === undefined) throw new Error("nothing was handed out");
    return held.lease;
  };
  /** Executes one thing that takes so long. */
  const execute = async (kin: readonly string[], ms: number, exitCode = 0) => {
    await queue.submit(aRequest({ kin }));
    const lease = await claimOne();
    await queue.started(lease, clock.now());
    clock.pass(ms);
    await queue.finish({
      lease,
      outcome: exitCode === 0 ? "succeeded" : "failed",
      exitCode,
      result: new Uint8Array(),
    });
  };
  const count = async () => {
    clock.pass(6_000);
    while (await countDurations(db, clock.now()));
    // What was looked up before is believed for a minute.
    clock.pass(60_000);
  };
  return { queue, claimOne, execute, count };
}

test("what takes long goes first among its own, known by what its kin took", async () => {
  // Given a command that took 60 s, and another of the same mnemonic that took 2 s
  const { queue, claimOne, execute, count } = await aFarm();
  const long = kinOf(traits);
  const short = kinOf({ ...traits, commandDigest: actionDigest("other"), target: "//lib:time" });
  await execute(long, 60_000);
  await execute(short, 2_000);
  await count();

  // When the two are asked for again, with other inputs
  const second = aRequest({ kin: short });
  const first = aRequest({ kin: long });
  await queue.submit(second);
  await queue.submit(first);

  // Then the long one goes first
  expect((await claimOne()).executionId).toBe(first.id);
  expect((await claimOne()).executionId).toBe(second.id);
});

test("a stranger of a known mnemonic is expected to take what its kind takes", async () => {
  // Given a kind that takes some 6 s
  const { queue, claimOne, execute, count } = await aFarm();
  await execute(kinOf(traits), 4_000);
  await execute(kinOf({ ...traits, target: "//b", commandDigest: actionDigest("b") }), 8_000);
  await count();

  // When one of it comes, of which nothing else is known
  const kin = kinOf({ ...traits, target: "//new", commandDigest: actionDigest("new") });
  const [shorter, stranger, longer] = [
    aRequest({ expectedDurationMs: 5_000 }),
    aRequest({ kin }),
    aRequest({ expectedDurationMs: 7_000 }),
  ];
  for (const request of [shorter, stranger, longer]) await queue.submit(request);

  // Then it goes between those that take less and those that take more
  const order = [await claimOne(), await claimOne(), await claimOne()];
  expect(order.map(({ executionId }) => executionId)).toEqual(
    [longer, stranger, shorter].map(({ id }) => id),
  );
});

test("a failure teaches nothing about how long a success takes", async () => {
  const { queue, claimOne, execute, count } = await aFarm();
  await execute(kinOf(traits), 1_000, 1);
  await count();
  const unknown = aRequest({ kin: kinOf(traits) });
  const known = aRequest({ expectedDurationMs: 5_000 });
  await queue.submit(known);
  await queue.submit(unknown);

  // What nobody knows counts as its whole timeout.
  expect((await claimOne()).executionId).toBe(unknown.id);
});
