import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { labClock, storeSuite } from "../perf.fixture.ts";
import { findSuite } from "../suites.store.ts";
import { sourceService } from "./source-service.ts";

const db = await freshDb();
afterAll(() => db.close());

test("a server that stops does not wait for a source, and raises no alarm about it", async () => {
  await storeSuite(db);
  const suite = await findSuite(db, "demo");
  if (suite === undefined) throw new Error("no suite");
  const ending = new AbortController();
  let asked: () => void = () => {};
  const isRequested = new Promise<void>((resolve) => (asked = resolve));
  const service = sourceService({
    db,
    clock: labClock(),
    signal: ending.signal,
    ask: (_, { signal }) =>
      new Promise((__, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("given up")));
        asked();
      }),
  });

  const looking = service.look(suite);
  await isRequested;
  ending.abort();

  await expect(looking).rejects.toThrow("given up");
  expect(
    await db.many(
      z.object({ failed: z.string().nullable() }),
      sql`select look_failed as failed from benchmark_suite`,
    ),
  ).toEqual([{ failed: null }]);
});
