import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { anyHistory, happen } from "./any-history.fixture.ts";
import { GraphInDatabase } from "./graph-in-database.fixture.ts";

const db = await freshDb();
afterAll(() => db.close());

test("what the statements keep is what it would be from scratch, whatever happens", async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      const graph = await GraphInDatabase.begin(db, history);
      for (const event of history.events) {
        await happen(graph, event);
        expect(graph.seen.stored()).toEqual(graph.seen.fromScratch());
      }
    }),
    { numRuns: 100 },
  );
});
