import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { allPlaces, noPlaces } from "#core/place-patterns.ts";
import { fitsStars } from "#core/star-pattern.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { hasSomePlace, inPlaces } from "./in-places.ts";
import { sql } from "./sql.ts";

const db = await freshDb();
afterAll(() => db.close());

const Answer = z.object({ holds: z.boolean() });
const name = fc.string({ unit: fc.constantFrom("a", "/", "%", "_", "\\", ".", "*"), maxLength: 5 });
const place = fc.record({ repository: name, branch: name });

test("the condition in SQL holds where the patterns of grants match", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(place, { maxLength: 3 }), place, async (patterns, row) => {
      const places = { everywhere: false, patterns };
      const [inSome, hasSome] = await Promise.all(
        [
          // Unqualified columns, as stores write them.
          inPlaces(places, sql`repository`, sql`branch`),
          hasSomePlace(places, sql`repository`),
        ].map(async (condition) => {
          const [answer] = await db.many(
            Answer,
            sql`select ${condition} as holds
              from (values (${row.repository}::text, ${row.branch}::text)) as row (repository, branch)`,
          );
          return answer?.holds;
        }),
      );
      const fits = (pattern: string, text: string) => fitsStars(pattern.split("*"), text);

      expect(inSome).toBe(
        patterns.some(
          (one) => fits(one.repository, row.repository) && fits(one.branch, row.branch),
        ),
      );
      expect(hasSome).toBe(patterns.some((one) => fits(one.repository, row.repository)));
    }),
    { numRuns: 300 },
  );
});

test("a caller without places gets no row, and one with all places gets each", async () => {
  const counts = await Promise.all(
    [noPlaces, allPlaces].map((places) =>
      db.many(z.object({ number: z.number() }), {
        ...sql`select number from (values (1), (2)) as row (number) where ${inPlaces(places, sql`'a'`)}`,
      }),
    ),
  );

  expect(counts.map((rows) => rows.length)).toEqual([0, 2]);
});
