import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aCase, aLine, nth, storeFigures } from "../history/history.fixture.ts";
import { emptyLab, labEpoch } from "../perf.fixture.ts";
import { deriveResult } from "./figures.store.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

const Counts = z.object({ results: z.number(), iterations: z.number() });

/** The stored counts, and the counts computed from the rows. */
async function countsOf(artifactId: number) {
  const [kept] = await db.many(
    Counts,
    sql`select results, iterations from benchmark_measured where artifact_id = ${artifactId}`,
  );
  const [counted] = await db.many(
    Counts,
    sql`
      select count(*)::int as results, coalesce(sum(iterations), 0)::int as iterations
      from benchmark_result where artifact_id = ${artifactId}
    `,
  );
  return { kept, counted };
}

test("the results and iterations of an artifact are counted as they arrive, also later iterations", async () => {
  const line = await aLine(db, 2);
  const artifact = nth(line, 1);
  await storeFigures(db, { artifact, values: { instructions: 1 } });
  await storeFigures(db, {
    artifact,
    case: aCase({ benchmark: "beta" }),
    values: { instructions: 1 },
  });
  const ids = z.object({ caseId: z.number(), environmentId: z.number() });
  const [result] = await db.many(
    ids,
    sql`
      select case_id as "caseId", environment_id as "environmentId" from benchmark_result
      where artifact_id = ${artifact.id} order by case_id limit 1
    `,
  );
  if (result === undefined) throw new Error("there is no result");
  await db.run(sql`
    insert into benchmark_collection
      (artifact_id, case_id, environment_id, iteration, sample, collector_name, job_id, epoch, measured_at)
    select ${artifact.id}, ${result.caseId}, ${result.environmentId}, n, array[1.0], 'c1', ${randomUUID()}, 1, ${labEpoch}
    from generate_series(2, 4) as n
  `);
  const of = { artifactId: artifact.id, ...result, collector: "c1" };
  const taken = { ...of, jobId: randomUUID(), epoch: 1, at: labEpoch };

  await db.transaction((tx) => deriveResult(tx, taken, []));
  // A repeated report changes nothing.
  await db.transaction((tx) => deriveResult(tx, taken, []));

  const { kept, counted } = await countsOf(artifact.id);
  expect(kept).toEqual({ results: 2, iterations: 5 });
  expect(counted).toEqual(kept);
  expect((await countsOf(nth(line, 2).id)).kept).toBeUndefined();
});

test("simultaneous reports of two collectors about one artifact are both counted", async () => {
  const line = await aLine(db, 1);
  await storeFigures(db, { artifact: nth(line, 1), values: { instructions: 1 } });

  await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      storeFigures(db, {
        artifact: nth(line, 1),
        case: aCase({ benchmark: `b${n}` }),
        values: { instructions: 1 },
      }),
    ),
  );

  const { kept, counted } = await countsOf(nth(line, 1).id);
  expect(kept).toEqual({ results: 7, iterations: 7 });
  expect(counted).toEqual(kept);
});
