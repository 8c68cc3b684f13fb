import { afterAll, beforeAll, expect, test } from "vitest";
import { allPlaces } from "#core/place-patterns.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { findGraphs } from "./find-graph.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
  farm.repository.write({ ".grange/farm.yml": "version: 1\njobs: { a: { commands: x } }\n" });
  farm.repository.commit("First");
  for (const end of ["1", "2"]) {
    await farm.submit({ id: `aaaaaaaa-bbbb-4ccc-8ddd-00000000000${end}` });
  }
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

test.each([
  { written: "aaaaaaaa-bbbb-4ccc-8ddd-000000000001", found: 1 },
  { written: "AAAAAAAA-BBBB-4CCC-8DDD-000000000001", found: 1 },
  { written: "latest", found: 1 },
  { written: "aaaaaaaa", found: 2 },
  { written: "aaaaaaaa-b", found: 2 },
  { written: "bbbb", found: 0 },
  { written: "aaa", found: 0 },
  { written: "aaaaaaaa' or true", found: 0 },
  { written: "----", found: 0 },
])("$written finds $found graphs", async ({ written, found }) => {
  expect(await findGraphs(db, written, allPlaces)).toHaveLength(found);
});
