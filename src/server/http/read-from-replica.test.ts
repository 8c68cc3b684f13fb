import { expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import { acceptedAgeMs, type Reading, readFromReplica } from "./read-from-replica.ts";

test.each([
  [undefined, 0],
  ["", 0],
  ["max-stale=5", 5_000],
  ["MAX-STALE = 5", 0],
  ['private, max-stale="60"', 60_000],
  // Without a number, any age would do: no answer of a farm is like that.
  ["max-stale", 0],
  ["max-stale=5, no-cache", 0],
  ["max-stale=5,max-stale=9", 0],
  ["max-stale=-1", 0],
  ["max-stale=5.5", 0],
  ["max-stale=999999999", 3_600_000],
  ["max-stale=99999999999999999999", 0],
])("Cache-Control %j accepts an answer that is %i ms old", (header, expected) => {
  expect(acceptedAgeMs(header)).toBe(expected);
});

// They are only passed on.
const primary = { name: "primary" } as unknown as Db;
const replica = { name: "replica" } as unknown as Db;

function reading(chosen: Db | undefined) {
  const requestedAges: number[] = [];
  const it: Reading = {
    primary,
    replicas: {
      choose(maxAgeMs) {
        requestedAges.push(maxAgeMs);
        return chosen;
      },
    },
    reads: { replica: 0, primary: 0, repeated: 0 },
  };
  return { it, requestedAges };
}

test("the newest answer is read from the primary without a look at the replicas", async () => {
  const { it, requestedAges } = reading(replica);

  expect(await readFromReplica(it, 0, (db) => db)).toBe(primary);

  expect(requestedAges).toEqual([]);
});

test("an older one is read from a replica, or from the primary when none is recent enough", async () => {
  const some = reading(replica);
  const none = reading(undefined);

  expect(await readFromReplica(some.it, 5_000, (db) => db)).toBe(replica);
  expect(await readFromReplica(none.it, 5_000, (db) => db)).toBe(primary);

  expect(some.requestedAges).toEqual([5_000]);
  expect(some.it.reads).toEqual({ replica: 1, primary: 0, repeated: 0 });
  expect(none.it.reads).toEqual({ replica: 0, primary: 1, repeated: 0 });
});

test("what fails at the replica is read from the primary, whose failure is the answer", async () => {
  const { it } = reading(replica);
  const missingAt = (where: readonly Db[]) => async (db: Db) => {
    if (where.includes(db)) throw new Fault("not_found", "there is no such graph");
    return db;
  };

  expect(await readFromReplica(it, 5_000, missingAt([replica]))).toBe(primary);
  await expect(readFromReplica(it, 5_000, missingAt([replica, primary]))).rejects.toMatchObject({
    code: "not_found",
  });

  expect(it.reads).toEqual({ replica: 0, primary: 0, repeated: 2 });
});
