import { beforeEach, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { emptyLab, labEpoch } from "../perf.fixture.ts";
import { comparisonCache } from "./comparison-cache.ts";
import { aCase, aLine, nth, storeFigures, storeLine } from "./history.fixture.ts";
import { storeChangePointStatement } from "./store-change-point-statement.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

const asked = { suite: "demo", before: "n31", after: "n32" };

async function aStoredLine() {
  const line = await aLine(db, 34);
  await storeLine(
    db,
    line,
    Array.from({ length: 32 }, (_, i) => 1_000 + (i % 2)),
  );
  return line;
}

test("a comparison is computed once, and a client that has it gets only its key", async () => {
  await aStoredLine();
  const cache = comparisonCache(db);

  const first = await cache.get(asked);
  const second = await cache.get(asked);

  expect(second.comparison).toBe(first.comparison);
  expect(await cache.get(asked, first.key)).toEqual({ key: first.key, comparison: undefined });
  expect(await comparisonCache(db).get(asked)).toEqual(first);
});

test("it is computed again when its results have changed", async () => {
  const line = await aStoredLine();
  const cache = comparisonCache(db);
  const keys = [(await cache.get(asked)).key];
  const changes = [
    // A predecessor of another case, measured late.
    () =>
      storeFigures(db, {
        artifact: nth(line, 5),
        case: aCase({ benchmark: "beta" }),
        values: { instructions: 1 },
      }),
    () =>
      storeFigures(db, {
        artifact: nth(line, 32),
        case: aCase({ benchmark: "beta" }),
        values: { instructions: 1 },
      }),
    // A neighbour for the page's arrows.
    () => storeFigures(db, { artifact: nth(line, 33), values: { instructions: 1 } }),
    () =>
      db.transaction((tx) =>
        storeChangePointStatement(
          tx,
          {
            suite: "demo",
            case: aCase(),
            metric: "instructions",
            fingerprint: "one",
            artifact: "n20",
            standing: "accepted",
            note: null,
          },
          "tester",
          labEpoch,
        ),
      ),
  ];

  for (const change of changes) {
    await change();
    keys.push((await cache.get(asked)).key);
  }

  expect(new Set(keys).size).toBe(keys.length);
});

test("later artifacts of the line do not change it", async () => {
  const line = await aStoredLine();
  await storeFigures(db, { artifact: nth(line, 33), values: { instructions: 1 } });
  const cache = comparisonCache(db);
  const { key } = await cache.get(asked);

  await storeFigures(db, { artifact: nth(line, 34), values: { instructions: 1 } });

  expect((await cache.get(asked)).key).toBe(key);
});
