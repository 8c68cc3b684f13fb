import { beforeEach, describe, expect, test } from "vitest";
import { caseKey } from "#core/test-case.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { emptyLab, labEpoch, storeArtifact } from "../perf.fixture.ts";
import { aCase, aLine, dayMs, nth, storeFigures, storeLine } from "./history.fixture.ts";
import { type ComparisonQuery, readComparison, resolveComparison } from "./read-comparison.ts";
import { storeChangePointStatement } from "./store-change-point-statement.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

const compare = (query: Omit<ComparisonQuery, "suite"> = {}) =>
  db.transaction(async (tx) =>
    readComparison(tx, await resolveComparison(tx, { suite: "demo", ...query })),
  );

/** 1000, 1010, 1000 …: 30 of them, the newest 1000. */
const swinging = Array.from({ length: 30 }, (_, i) => (i % 2 === 1 ? 1_000 : 1_010));
/**
 * Of its 29 steps, 15 are 10/1000 and 14 are 10/1010. So the lower quartile is 10/1010, the upper 10/1000, and the
 * threshold 0.01 + 3 × (0.01 - 0.00990099) = 0.01029703.
 */
const swingingFence = 0.01 + 3 * (0.01 - 10 / 1_010);

describe("the threshold", () => {
  test.each([
    { after: 1_010.2, verdict: "no-change" },
    { after: 1_010.4, verdict: "regressed" },
    { after: 989.6, verdict: "improved" },
  ])(
    "is computed from the 30 predecessors of the earlier artifact: $after is $verdict",
    async ({ after, verdict }) => {
      const line = await aLine(db, 32);
      await storeLine(db, line, [...swinging, 1_000, after]);

      const { cases, before, contiguous } = await compare({ after: "n32" });

      expect(before.tag).toBe("n31");
      expect(contiguous).toBe(true);
      expect(cases).toHaveLength(1);
      expect(cases[0]).toMatchObject({ before: 1_000, after, verdict });
      const evidence = cases[0]?.evidence;
      expect(evidence).toMatchObject({ by: "fence", history: 30 });
      expect(evidence?.by === "fence" ? evidence.threshold : 0).toBeCloseTo(swingingFence, 12);
    },
  );

  test("skips artifacts for which the case was not measured", async () => {
    const line = await aLine(db, 42);
    const values = [...swinging, ...Array.from({ length: 10 }, () => undefined), 1_000, 1_010.2];
    await storeLine(db, line, values);
    const other = aCase({ benchmark: "beta" });
    for (let day = 31; day <= 40; day++)
      await storeFigures(db, {
        artifact: nth(line, day),
        case: other,
        values: { instructions: 1 },
      });

    const { cases } = await compare({ before: "n41", after: "n42" });

    expect(cases[0]).toMatchObject({ verdict: "no-change", evidence: { history: 30 } });
  });

  test("uses no values before an accepted step", async () => {
    const line = await aLine(db, 32);
    await storeLine(db, line, [...swinging, 1_000, 1_010.2]);
    const word = { suite: "demo", case: aCase(), metric: "instructions", fingerprint: "one" };
    await db.transaction((tx) =>
      storeChangePointStatement(
        tx,
        { ...word, artifact: "n20", standing: "accepted", note: "another corpus" },
        "tester",
        labEpoch,
      ),
    );

    const { cases } = await compare({ after: "n32" });

    // Eleven predecessors are too few for a fence.
    expect(cases[0]).toMatchObject({
      verdict: "regressed",
      evidence: { by: "fence", history: 0, threshold: 0.002 },
    });
  });

  test("uses only machines of the same kind", async () => {
    const line = await aLine(db, 32);
    await storeLine(db, line, swinging, "other");
    await storeLine(db, line, [...Array.from({ length: 30 }, () => undefined), 1_000, 1_010.2]);

    const { cases } = await compare({ after: "n32" });

    expect(cases[0]).toMatchObject({ verdict: "regressed", evidence: { history: 0 } });
  });

  test("is fixed when the earlier artifact is not on the main line", async () => {
    const line = await aLine(db, 31);
    await storeLine(db, line, [...swinging, 1_000]);
    const release = await storeArtifact(db, {
      tag: "5.9.3",
      kind: "release",
      datedAt: new Date(labEpoch.getTime() + 32 * dayMs),
    });
    await storeFigures(db, { artifact: release, values: { instructions: 1_000 } });

    const { cases } = await compare({ before: "5.9.3", after: "n31" });

    expect(cases[0]).toMatchObject({
      verdict: "no-change",
      evidence: { threshold: 0.002, exact: true },
    });
  });
});

test("values of different machines are not compared", async () => {
  const line = await aLine(db, 2);
  await storeLine(db, line, [1_000], "one");
  await storeLine(db, line, [undefined, 2_000], "two");

  const { cases, summaries } = await compare();

  expect(cases[0]).toMatchObject({ verdict: "unlike-machines", change: null, fingerprint: null });
  expect(summaries[0]).toMatchObject({ unlikeMachines: 1, direction: "none" });
});

test("among results of two kinds of machines, those of the common kind are compared", async () => {
  const line = await aLine(db, 2);
  await storeLine(db, line, [1_000, 1_500], "old");
  await storeLine(db, line, [undefined, 9_000], "new");

  const { cases } = await compare();

  expect(cases[0]).toMatchObject({ before: 1_000, after: 1_500, fingerprint: "old" });
});

test("cases that one of the two artifacts lacks are listed with the error", async () => {
  const line = await aLine(db, 2);
  await storeLine(db, line, [1_000, 1_000]);
  const beta = aCase({ benchmark: "beta" });
  await storeFigures(db, { artifact: nth(line, 1), case: beta, values: { instructions: 5 } });
  await db.run(sql`
    insert into benchmark_error (artifact_id, job_id, case_id, benchmark, message, at)
    select ${nth(line, 2).id}, gen_random_uuid(), id, 'beta', 'exit code 1', ${labEpoch}
    from benchmark_case where benchmark = 'beta'
  `);

  const { missing, newlyBroken, cases } = await compare();

  expect(cases.map((each) => caseKey(each.case))).toEqual([caseKey(aCase())]);
  expect(missing).toEqual([{ case: beta, missing: "after", error: "exit code 1" }]);
  expect(newlyBroken).toEqual([{ benchmark: "beta", message: "exit code 1" }]);
});

test("a warning of either artifact weakens the verdict", async () => {
  const line = await aLine(db, 2);
  await storeFigures(db, {
    artifact: nth(line, 1),
    values: { instructions: 5 },
    warnings: ["busy"],
  });
  await storeFigures(db, {
    artifact: nth(line, 2),
    values: { instructions: 5 },
    warnings: ["hot"],
  });

  const { cases } = await compare();

  expect(cases[0]?.warnings.toSorted()).toEqual(["busy", "hot"]);
});

describe("an artifact that the request does not name", () => {
  test("is the newest measured one, compared with its parent", async () => {
    const line = await aLine(db, 5);
    await storeLine(db, line, [1, 1, 1, 1]);

    const { before, after, neighbours } = await compare();

    expect([before.tag, after.tag]).toEqual(["n3", "n4"]);
    expect(neighbours).toEqual({ earlier: "n2", later: null });
  });

  test("is the nearest measured one when the parent was not measured", async () => {
    const line = await aLine(db, 5);
    await storeLine(db, line, [1, undefined, undefined, 1, 1]);

    const { before, contiguous, neighbours } = await compare({ after: "n4" });

    expect(before.tag).toBe("n1");
    expect(contiguous).toBe(false);
    expect(neighbours).toEqual({ earlier: null, later: "n5" });
  });

  test.each([
    { query: { after: "n9" }, says: /no artifact "n9"/ },
    {
      query: { metric: "speed" },
      says: /no metric "speed"; it has instructions, throughput, wall-time/,
    },
    { query: { after: "n1" }, says: /does not know the parent of n1 of demo/ },
  ])("is missing, and the error names it: $query", async ({ query, says }) => {
    await storeLine(db, await aLine(db, 2), [1, 1]);

    await expect(compare(query)).rejects.toThrow(says);
  });
});
