import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { Report } from "#api/benchmark-comparison.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { examineNext } from "../history/examine-artifact.ts";
import {
  aCase,
  aLine,
  nth,
  storeFigures,
  storeLine,
  storePairs,
} from "../history/history.fixture.ts";
import { readComparison, resolveComparison } from "../history/read-comparison.ts";
import { aSuite, emptyLab, labEpoch, storeJob, storeRequest, storeSuite } from "../perf.fixture.ts";
import { changesToConfirm, makeReport } from "./make-report.ts";
import { readReport } from "./read-report.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

const make = (request: string, now = labEpoch) =>
  db.transaction((tx) => makeReport(tx, request, now));

/** Two days, of which the second is requested. */
async function twoDays(values: readonly number[] = [1_000, 1_100]) {
  const line = await aLine(db, 2);
  await storeLine(db, line, values);
  const [parent, child] = [nth(line, 1), nth(line, 2)];
  const request = await storeRequest(db, { artifact: child, parent });
  return { parent, child, request };
}

describe("the report of a request", () => {
  test("contains the comparison of its artifact with its parent", async () => {
    const { request } = await twoDays();

    await make(request);

    const report = await readReport(db, request, undefined);
    const compared = await db.transaction(async (tx) =>
      readComparison(tx, await resolveComparison(tx, { suite: "demo", before: "n1", after: "n2" })),
    );
    expect(Report.parse(report)).toEqual(report);
    expect(report).toMatchObject({
      requestId: request,
      before: "n1",
      after: "n2",
      direction: "regression",
      madeAt: labEpoch.toISOString(),
      reproduce: "grange bench compare n1 n2 --suite demo --server",
    });
    expect(report.summaries).toEqual(compared.summaries);
    expect(report.changes).toEqual(compared.cases);
    expect(report.changes[0]?.change).toBeCloseTo(0.1, 12);
    expect(report.markdown).toContain(report.reproduce);
  });

  test("lists no cases of the parent that were not requested", async () => {
    const { parent, request, child } = await twoDays();
    const [found] = await db.many(
      z.object({ digest: z.string() }),
      sql`select digest from benchmark_suite_version`,
    );
    await storeJob(db, { request, artifact: child, digest: found?.digest ?? "" });
    await storeFigures(db, {
      artifact: parent,
      case: aCase({ backend: "native" }),
      values: { instructions: 5 },
    });
    const lacking = aCase({ benchmark: "beta" });
    await storeFigures(db, { artifact: parent, case: lacking, values: { instructions: 7 } });

    await make(request);

    const { missing } = await readReport(db, request, undefined);
    expect(missing.map((each) => each.case)).toEqual([lacking]);
  });

  test("is made once, whatever is measured later and however many servers there are", async () => {
    const { request, child } = await twoDays();
    await Promise.all([make(request), make(request)]);
    const first = await readReport(db, request, undefined);

    await storeFigures(db, {
      artifact: child,
      case: aCase({ benchmark: "beta" }),
      values: { instructions: 1 },
    });
    await make(request, new Date(labEpoch.getTime() + 1_000));

    expect(await readReport(db, request, undefined)).toEqual(first);
    expect(await readReport(db, "latest", "demo")).toEqual(first);
    expect(await readReport(db, request.slice(0, 8), undefined)).toEqual(first);
  });

  test("lists relevant changes of all deciding metrics, the largest first", async () => {
    const line = await aLine(db, 2);
    const values = { alpha: [1_000, 1_020], beta: [1_000, 700], gamma: [1_000, 1_000.5] };
    for (const [benchmark, [before, after]] of Object.entries(values)) {
      const of = { case: aCase({ benchmark }) };
      await storeFigures(db, {
        ...of,
        artifact: nth(line, 1),
        values: { instructions: before ?? 0 },
      });
      await storeFigures(db, {
        ...of,
        artifact: nth(line, 2),
        values: { instructions: after ?? 0 },
      });
    }
    const request = await storeRequest(db, { artifact: nth(line, 2), parent: nth(line, 1) });

    await make(request);

    const { changes } = await readReport(db, request, undefined);
    expect(changes.map((each) => [each.case.benchmark, each.verdict])).toEqual([
      ["beta", "improved"],
      ["alpha", "regressed"],
    ]);
  });

  test("does not report metrics as unchanged that were not judged: times without interleaved processes", async () => {
    const line = await aLine(db, 2);
    const values = { instructions: 1_000 };
    await storeFigures(db, { artifact: nth(line, 1), values: { ...values, "wall-time": 1 } });
    await storeFigures(db, { artifact: nth(line, 2), values: { ...values, "wall-time": 2 } });
    const request = await storeRequest(db, { artifact: nth(line, 2), parent: nth(line, 1) });

    await make(request);

    const { verdict, changes, markdown } = await readReport(db, request, undefined);
    expect(verdict).toBe("No relevant change.");
    expect(changes).toEqual([]);
    expect(markdown).toContain(
      "No relevant results: `instructions`, `wall-time` (1 case not judged, because interleaved processes are missing).",
    );
  });

  test("judges times by pairs and counts by the threshold, independently of each other", async () => {
    const line = await aLine(db, 2);
    const [parent, child] = [nth(line, 1), nth(line, 2)];
    // The results show a factor of two; alternating processes show no difference.
    const before = { instructions: 1_000, "wall-time": 1 };
    await storeFigures(db, { artifact: parent, values: before });
    await storeFigures(db, { artifact: child, values: { instructions: 1_100, "wall-time": 2 } });
    const pairs = Array.from({ length: 20 }, (_, i) => ({
      child: 1 + ((i * 7) % 20) / 10_000,
      parent: 1 + ((i * 3) % 20) / 10_000,
    }));
    await storePairs(db, { child, parent, metric: "wall-time", pairs });
    await storePairs(db, { child, parent, metric: "instructions", pairs });

    const { cases } = await db.transaction(async (tx) =>
      readComparison(tx, await resolveComparison(tx, { suite: "demo", metric: "wall-time" })),
    );
    const counts = await db.transaction(async (tx) =>
      readComparison(tx, await resolveComparison(tx, { suite: "demo", metric: "instructions" })),
    );

    expect(cases).toMatchObject([{ verdict: "no-change", evidence: { by: "pairs", pairs: 20 } }]);
    expect(counts.cases).toMatchObject([{ verdict: "regressed", evidence: { by: "fence" } }]);
  });

  test("causes the examination of its series and those of its parent", async () => {
    const line = await aLine(db, 2);
    await storeLine(db, line, [1, 1]);
    const digest = await storeSuite(db, aSuite());
    const request = await storeRequest(db, { artifact: nth(line, 2), parent: nth(line, 1) });
    await storeJob(db, { request, artifact: nth(line, 2), digest });
    await storeJob(db, { request, artifact: nth(line, 1), digest, purpose: "backfill" });

    await make(request);

    expect(await examineNext(db, labEpoch)).toBe(true);
    expect(await examineNext(db, labEpoch)).toBe(true);
    expect(await examineNext(db, labEpoch)).toBe(false);
  });

  test.each([
    { request: "latest", says: /no request of demo has a report yet/ },
    { request: "what", says: /there is no request "what"/ },
    { request: randomUUID(), says: /there is no request/ },
  ])("is missing, and the error explains it: $request", async ({ request, says }) => {
    await expect(readReport(db, request, "demo")).rejects.toThrow(says);
  });

  test("is not there yet, or never will be, and the error says which", async () => {
    const { request, child } = await twoDays();
    await expect(readReport(db, request, undefined)).rejects.toThrow(
      /a report is made when it ends/,
    );
    await db.script("update benchmark_request set state = 'completed', ended_at = now()");
    const alone = await storeRequest(db, { artifact: child });
    await make(alone);

    await expect(readReport(db, alone, undefined)).rejects.toThrow(/it was not compared/);
  });
});

describe("doubts", () => {
  /** So clear that twenty pairs of it exclude chance. */
  const pairs = (factor: number) =>
    Array.from({ length: 20 }, (_, i) => ({
      child: factor * (1 + i / 1_000),
      parent: 1 + i / 1_000,
    }));

  test.each([
    { metric: "wall-time", factor: 1.2, direction: "regressed" },
    { metric: "wall-time", factor: 0.8, direction: "improved" },
    { metric: "throughput", factor: 0.8, direction: "regressed" },
  ])(
    "are changes that pairs show: $metric times $factor has $direction",
    async ({ metric, factor, direction }) => {
      const { request, child, parent } = await twoDays();
      await storePairs(db, { child, parent, metric, pairs: pairs(factor) });

      expect(await db.transaction((tx) => changesToConfirm(tx, request))).toEqual([
        { case: aCase(), metric, direction },
      ]);
    },
  );

  test("end when a rerun has confirmed them, and the report contains the changes", async () => {
    const { request, child, parent } = await twoDays([1_000, 1_000]);
    const of = { child, parent, metric: "wall-time", pairs: pairs(1.2) };
    await storePairs(db, of);
    await storePairs(db, { ...of, purpose: "confirm" });

    expect(await db.transaction((tx) => changesToConfirm(tx, request))).toEqual([]);
    await make(request);
    const { changes } = await readReport(db, request, undefined);
    expect(changes).toMatchObject([
      { metric: "wall-time", verdict: "regressed", evidence: { by: "pairs", confirmed: true } },
    ]);
  });

  test("do not exist without changes, or without a parent", async () => {
    const { request, child, parent } = await twoDays();
    await storePairs(db, { child, parent, metric: "wall-time", pairs: pairs(1) });

    expect(await db.transaction((tx) => changesToConfirm(tx, request))).toEqual([]);
    expect(await db.transaction((tx) => changesToConfirm(tx, randomUUID()))).toEqual([]);
  });
});
