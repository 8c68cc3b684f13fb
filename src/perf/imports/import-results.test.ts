import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { ImportResults } from "#api/benchmark-history.ts";
import type { Metric } from "#core/benchmark-metric.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { aSuite, emptyLab, labEpoch, storeSuite } from "../perf.fixture.ts";
import { findSuite } from "../suites.store.ts";
import { importResults } from "./import-results.ts";
import type { ImportedCase } from "./imported-case.ts";

const db = await freshDb();
beforeEach(() => emptyLab(db));

const time: Metric = {
  name: "wall-time",
  nature: "noisy",
  unit: "seconds",
  better: "lower",
  decides: true,
};
const rate: Metric = { ...time, name: "rate", unit: "per-second", better: "higher" };

const measured = (benchmark: string, seconds: readonly number[]): ImportedCase => ({
  benchmark,
  original: benchmark,
  metrics: [time, rate],
  iterations: seconds.map((value) => ({ "wall-time": value, rate: 1 / value })),
});

function tell(artifact: string, imported: readonly ImportedCase[], more = {}) {
  const told = ImportResults.parse({
    suite: "theirs",
    artifact,
    tool: "hyperfine",
    target: "linux-x64",
    environment: { cpu: "one" },
    output: "",
    ...more,
  });
  return db.transaction((tx) => importResults(tx, told, imported, "ada", labEpoch));
}

const Stored = z.object({
  tag: z.string(),
  parent: z.string().nullable(),
  benchmark: z.string(),
  least: z.array(z.number().nullable()),
  iterations: z.number(),
});
const stored = () =>
  db.many(
    Stored,
    sql`
      select a.tag, p.tag as parent, c.benchmark, r.least, r.iterations
      from benchmark_result r join benchmark_artifact a on a.id = r.artifact_id
      left join benchmark_artifact p on p.id = a.parent_id
      join benchmark_case c on c.id = r.case_id
      order by a.id, c.benchmark
    `,
  );

describe("results of another tool", () => {
  test("become results of an artifact, the best of each metric first", async () => {
    const kept = await tell("v1", [measured("parse", [2, 0.5, 1]), measured("print", [4])]);

    expect(kept).toEqual({ suite: "theirs", artifact: "v1", cases: 2, iterations: 4, kept: 0 });
    expect(await stored()).toEqual([
      { tag: "v1", parent: null, benchmark: "parse", least: [0.5, 2], iterations: 3 },
      { tag: "v1", parent: null, benchmark: "print", least: [4, 0.25], iterations: 1 },
    ]);
  });

  test("follow the artifact that was imported before", async () => {
    await tell("v1", [measured("parse", [1])]);
    await tell("v2", [measured("parse", [1])], { datedAt: "2026-06-02T00:00:00Z" });
    await tell("v3", [measured("parse", [1])], { parent: "v1", datedAt: "2026-06-03T00:00:00Z" });

    expect((await stored()).map(({ tag, parent }) => [tag, parent])).toEqual([
      ["v1", null],
      ["v2", "v1"],
      ["v3", "v1"],
    ]);
    await expect(tell("v5", [measured("parse", [1])], { parent: "v4" })).rejects.toThrow(
      "no results of v4 are imported yet",
    );
  });

  test("of the past follow the artifact of their time, not a later one", async () => {
    await tell("v1", [measured("parse", [1])], { datedAt: "2026-01-01T00:00:00Z" });
    await tell("v3", [measured("parse", [1])], { datedAt: "2026-03-01T00:00:00Z" });
    await tell("v2", [measured("parse", [1])], { datedAt: "2026-02-01T00:00:00Z" });
    await tell("v0", [measured("parse", [1])], { datedAt: "2025-12-01T00:00:00Z" });

    expect((await stored()).map(({ tag, parent }) => [tag, parent])).toEqual([
      ["v1", null],
      ["v3", "v1"],
      ["v2", "v1"],
      ["v0", null],
    ]);
  });

  test("are examined for steps, if they contain anything new", async () => {
    const listed = () =>
      db.many(
        z.object({ tag: z.string() }),
        sql`
          select tag from benchmark_unexamined
          join benchmark_artifact as artifact on artifact.id = artifact_id
        `,
      );
    await tell("v1", [measured("parse", [1])]);
    expect(await listed()).toEqual([{ tag: "v1" }]);

    await db.run(sql`delete from benchmark_unexamined`);
    await tell("v1", [measured("parse", [2])]);
    expect(await listed()).toEqual([]);
  });

  test("that are sent twice are kept as first received; new benchmarks are added", async () => {
    await tell("v1", [measured("parse", [1])]);
    const again = await tell("v1", [measured("parse", [0.1]), measured("print", [2])]);

    expect(again).toMatchObject({ cases: 2, iterations: 1, kept: 1 });
    expect((await stored()).map(({ benchmark, least }) => [benchmark, least[0]])).toEqual([
      ["parse", 1],
      ["print", 2],
    ]);
    const suite = (await findSuite(db, "theirs"))?.definition;
    expect(Object.keys(suite?.runtime?.benchmarks ?? {}).toSorted()).toEqual(["parse", "print"]);
  });

  test("of another kind of machine are stored separately", async () => {
    await tell("v1", [measured("parse", [1])]);
    await tell("v1", [measured("parse", [2])], { environment: { cpu: "two" } });

    expect(new Set((await stored()).map(({ least }) => least[0]))).toEqual(new Set([1, 2]));
  });

  test("are refused for a suite that the farm itself measures", async () => {
    await storeSuite(db, aSuite());
    await expect(tell("v1", [measured("parse", [1])], { suite: "demo" })).rejects.toThrow(
      'the farm measures the suite "demo" itself; import into another one, such as "demo-imported"',
    );
  });

  test("of two simultaneous imports are both stored", async () => {
    await Promise.all([tell("v1", [measured("parse", [1])]), tell("v2", [measured("print", [1])])]);

    expect((await stored()).map(({ tag }) => tag).toSorted()).toEqual(["v1", "v2"]);
    const suite = (await findSuite(db, "theirs"))?.definition;
    expect(Object.keys(suite?.runtime?.benchmarks ?? {}).toSorted()).toEqual(["parse", "print"]);
  });

  test("without values are refused, and leave nothing behind", async () => {
    await expect(tell("v1", [])).rejects.toThrow("contains no results");
    expect(await findSuite(db, "theirs")).toBeUndefined();
  });
});
