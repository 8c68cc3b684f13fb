import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { emptyLab } from "../perf.fixture.ts";
import { valuesAt, type Wanted } from "./figures.store.ts";
import { aCase, aLine, nth, storeFigures } from "./history.fixture.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

const Id = z.object({ id: z.number() });

test("the values of many series equal those of each single series: in order, with gaps, by machine, up to the limit", async () => {
  const line = await aLine(db, 4);
  const names = Array.from({ length: 70 }, (_, n) => `b${n}`);
  await storeFigures(db, { artifact: nth(line, 1), values: { instructions: 0 } });
  await storeFigures(db, {
    artifact: nth(line, 4),
    values: { instructions: 9 },
    fingerprint: "two",
  });
  for (const name of names)
    await storeFigures(db, {
      artifact: nth(line, 1),
      case: aCase({ benchmark: name }),
      values: { instructions: Number(name.slice(1)), "wall-time": 0.5 },
    });
  const some = names.slice(0, 3);
  for (const [day, name] of [
    [2, "b0"],
    [4, "b0"],
    [4, "b1"],
  ] as const)
    await storeFigures(db, {
      artifact: nth(line, day),
      case: aCase({ benchmark: name }),
      values: { instructions: 100 * day },
    });
  const wantedOf = async (of: readonly string[]): Promise<Wanted[]> => {
    const [environment] = await db.many(
      Id,
      sql`select id from benchmark_environment where fingerprint = 'one'`,
    );
    const cases = await db.many(
      Id.extend({ benchmark: z.string() }),
      sql`select id, benchmark from benchmark_case`,
    );
    return of.map((name) => ({
      caseId: cases.find(({ benchmark }) => benchmark === name)?.id ?? 0,
      environmentId: environment?.id ?? 0,
      ordinal: 1,
      until: name === "b1" ? 3 : 4,
    }));
  };
  const artifacts = [1, 2, 3, 4].map((day) => nth(line, day).id).toReversed();

  const many = await valuesAt(db, artifacts, await wantedOf(names));
  const few = await valuesAt(db, artifacts, await wantedOf(some));

  expect([...few]).toEqual([
    [0, [400, 200, 0]],
    [1, [400]],
    [2, [2]],
  ]);
  expect(some.map((_, which) => many.get(which))).toEqual(some.map((_, which) => few.get(which)));
  expect(many.get(69)).toEqual([69]);
  expect(await valuesAt(db, [], await wantedOf(some))).toEqual(new Map());
});
