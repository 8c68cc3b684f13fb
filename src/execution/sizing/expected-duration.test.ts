import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { actionDigest, aRequest, aWorker, movableClock, never } from "../execution.fixture.ts";
import { openTestQueues } from "../execution-queue.fixture.ts";
import { similarityKeysOf } from "../submitting/similarity-keys.ts";
import { countDurations } from "./expected-duration.store.ts";

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
  /** Runs one execution of this duration. */
  const execute = async (similarityKeys: readonly string[], ms: number, exitCode = 0) => {
    await queue.submit(aRequest({ similarityKeys }));
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
    // A lookup is cached for a minute.
    clock.pass(60_000);
  };
  return { queue, claimOne, execute, count };
}

test("within a lane, long executions come first, as known from similar ones", async () => {
  // Given a command that took 60 s, and another of the same mnemonic that took 2 s
  const { queue, claimOne, execute, count } = await aFarm();
  const long = similarityKeysOf(traits);
  const short = similarityKeysOf({
    ...traits,
    commandDigest: actionDigest("other"),
    target: "//lib:time",
  });
  await execute(long, 60_000);
  await execute(short, 2_000);
  await count();

  // When the two are requested again, with other inputs
  const second = aRequest({ similarityKeys: short });
  const first = aRequest({ similarityKeys: long });
  await queue.submit(second);
  await queue.submit(first);

  // Then the long one comes first
  expect((await claimOne()).executionId).toBe(first.id);
  expect((await claimOne()).executionId).toBe(second.id);
});

test("an unknown action with a known mnemonic is expected to take as long as others with this mnemonic", async () => {
  // Given a kind of action that takes about 6 s
  const { queue, claimOne, execute, count } = await aFarm();
  await execute(similarityKeysOf(traits), 4_000);
  await execute(
    similarityKeysOf({ ...traits, target: "//b", commandDigest: actionDigest("b") }),
    8_000,
  );
  await count();

  // When one of this kind arrives, with no other known facts
  const similarityKeys = similarityKeysOf({
    ...traits,
    target: "//new",
    commandDigest: actionDigest("new"),
  });
  const [shorter, stranger, longer] = [
    aRequest({ expectedDurationMs: 5_000 }),
    aRequest({ similarityKeys }),
    aRequest({ expectedDurationMs: 7_000 }),
  ];
  for (const request of [shorter, stranger, longer]) await queue.submit(request);

  // Then it is placed between shorter and longer ones
  const order = [await claimOne(), await claimOne(), await claimOne()];
  expect(order.map(({ executionId }) => executionId)).toEqual(
    [longer, stranger, shorter].map(({ id }) => id),
  );
});

test("a failure does not change how long a success is expected to take", async () => {
  const { queue, claimOne, execute, count } = await aFarm();
  await execute(similarityKeysOf(traits), 1_000, 1);
  await count();
  const unknown = aRequest({ similarityKeys: similarityKeysOf(traits) });
  const known = aRequest({ expectedDurationMs: 5_000 });
  await queue.submit(known);
  await queue.submit(unknown);

  // An unknown duration counts as the whole timeout.
  expect((await claimOne()).executionId).toBe(unknown.id);
});
