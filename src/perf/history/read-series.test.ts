import { beforeEach, describe, expect, test } from "vitest";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { emptyLab, labEpoch, storeArtifact } from "../perf.fixture.ts";
import { aCase, aLine, dayMs, nth, storeFigures, storeLine } from "./history.fixture.ts";
import { readGrid } from "./read-grid.ts";
import { readSeries } from "./read-series.ts";
import { storeChangePointStatement } from "./store-change-point-statement.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

const anyCase = {
  section: [],
  benchmark: [],
  profile: [],
  scenario: [],
  backend: [],
  target: [],
};
const asked = { suite: "demo", case: aCase(), kind: "master", samples: false } as const;

describe("one series", () => {
  test("is in the order of the line, not of the measurements, for each machine", async () => {
    const line = await aLine(db, 4);
    await storeLine(db, line, [undefined, undefined, 30, 40]);
    await storeLine(db, line, [10, undefined, 31], "two");

    const { points, metric } = await readSeries(db, asked);

    expect(metric.name).toBe("instructions");
    expect(points.map((each) => [each.artifact, each.value, each.fingerprint])).toEqual([
      ["n1", 10, "two"],
      ["n3", 30, "one"],
      ["n3", 31, "two"],
      ["n4", 40, "one"],
    ]);
    expect(points[0]).toEqual({
      artifact: "n1",
      datedAt: new Date(labEpoch.getTime() + dayMs).toISOString(),
      value: 10,
      collector: "c1",
      fingerprint: "two",
    });
  });

  test("of releases contains no nightlies, and has samples on request", async () => {
    await storeLine(db, await aLine(db, 1), [10]);
    const release = await storeArtifact(db, { tag: "5.9.3", kind: "release" });
    await storeFigures(db, { artifact: release, values: { instructions: 7, "wall-time": 0.5 } });

    const { points } = await readSeries(db, {
      ...asked,
      kind: "release",
      metric: "wall-time",
      samples: true,
    });

    expect(points).toMatchObject([{ artifact: "5.9.3", value: 0.5, samples: [0.5] }]);
  });

  test("of a case that was never measured is an error", async () => {
    await storeLine(db, await aLine(db, 1), [10]);

    await expect(readSeries(db, { ...asked, case: aCase({ benchmark: "gamma" }) })).rejects.toThrow(
      /there are no results of "compile gamma check full js linux-x64" in demo/,
    );
  });

  test("contains the accepted steps, also those that were not found", async () => {
    const line = await aLine(db, 4);
    await storeLine(db, line, [10, 12, 20, 22]);
    const word = {
      suite: "demo",
      case: aCase(),
      metric: "instructions",
      fingerprint: "one",
      artifact: "n3",
      note: "a larger corpus",
    };
    const say = (standing: "found" | "accepted" | "dismissed", artifact = "n3") =>
      db.transaction((tx) =>
        storeChangePointStatement(tx, { ...word, artifact, standing }, "ada", labEpoch),
      );

    await say("accepted");

    const { changePoints } = await readSeries(db, asked);
    expect(changePoints).toEqual([
      {
        artifact: "n3",
        before: "n2",
        meanBefore: 11,
        meanAfter: 21,
        change: 10 / 11,
        p: 1,
        fingerprint: "one",
        foundAt: labEpoch.toISOString(),
        standing: "accepted",
        statedBy: "ada",
        note: "a larger corpus",
      },
    ]);
    await expect(say("dismissed", "n2")).rejects.toThrow(/there is no step of instructions at n2/);
    await expect(say("accepted", "n1")).rejects.toThrow(/no figure on both sides/);
  });
});

describe("many series", () => {
  test("have a value for each artifact, or null", async () => {
    const line = await aLine(db, 4);
    await storeLine(db, line, [1, undefined, 3]);
    await storeFigures(db, {
      artifact: nth(line, 3),
      case: aCase({ benchmark: "beta" }),
      values: { instructions: 33 },
    });

    const grid = await readGrid(db, { suite: "demo", kind: "master", filter: anyCase, limit: 60 });

    expect(grid.artifacts.map(({ tag }) => tag)).toEqual(["n1", "n3"]);
    expect(grid.series.map((each) => [each.case.benchmark, each.values])).toEqual([
      ["alpha", [1, 3]],
      ["beta", [null, 33]],
    ]);
    expect(grid.leftOut).toBe(0);
  });

  test("have the steps of their own machine, except dismissed ones", async () => {
    const line = await aLine(db, 6);
    await storeLine(db, line, [100, 100, 110, 110, 120, 121]);
    await storeLine(db, line, [7, 7, 7, 7, 7, 7], "two");
    const word = { suite: "demo", case: aCase(), metric: "instructions", fingerprint: "one" };
    for (const [artifact, standing] of [
      ["n3", "accepted"],
      ["n5", "accepted"],
      ["n6", "accepted"],
      ["n5", "found"],
      ["n6", "dismissed"],
    ] as const) {
      await db.transaction((tx) =>
        storeChangePointStatement(tx, { ...word, artifact, standing, note: null }, "ada", labEpoch),
      );
    }

    const ask = { suite: "demo", kind: "master", filter: anyCase, limit: 60 } as const;
    const { series } = await readGrid(db, ask);
    const other = await readGrid(db, { ...ask, metric: "wall-time" });

    expect(series.map(({ fingerprint, steps }) => [fingerprint, steps])).toEqual([
      [
        "one",
        [
          { artifact: "n3", change: expect.closeTo(0.1525, 6) },
          { artifact: "n5", change: expect.closeTo(120.5 / 105 - 1, 6) },
        ],
      ],
      ["two", []],
    ]);
    expect(other.series).toEqual([]);
  });

  test("are limited to the requested number and length", async () => {
    const line = await aLine(db, 5);
    await storeLine(db, line, [1, 2, 3, 4, 5]);
    for (const benchmark of ["beta", "gamma"])
      await storeFigures(db, {
        artifact: nth(line, 3),
        case: aCase({ benchmark }),
        values: { instructions: 1 },
      });

    const grid = await readGrid(db, {
      suite: "demo",
      kind: "master",
      filter: { ...anyCase, benchmark: ["alpha", "gamma"] },
      from: "n2",
      to: new Date(labEpoch.getTime() + 4 * dayMs).toISOString(),
      limit: 1,
    });

    expect(grid.series.map(({ values }) => values)).toEqual([[2, 3, 4]]);
    expect(grid.leftOut).toBe(1);
  });
});
