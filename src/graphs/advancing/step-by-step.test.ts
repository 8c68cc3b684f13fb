import fc from "fast-check";
import { expect, test } from "vitest";
import { anyHistory, begin, happen } from "./any-history.fixture.ts";

test("whatever happens in whatever graph: advanced step by step, it is what it would be from scratch", async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      const graph = await begin(history);
      for (const event of history.events) {
        await happen(graph, event);
        expect(graph.stored()).toEqual(graph.fromScratch());
      }
    }),
    { numRuns: 10_000 },
  );
});
