import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import type { ClaimedBenchmarkJob } from "#api/collector.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { aCollector, aLabServer } from "../jobs/lab-driver.fixture.ts";
import { aSuite, emptyLab, storeArtifact, storeSuite } from "../perf.fixture.ts";
import { aService } from "../requests/requests.fixture.ts";
import { reportHooks } from "./make-report.ts";
import { readReport } from "./read-report.ts";

const url = await freshDatabase();
const db = openPostgres({ url });
const otherDb = openPostgres({ url });
beforeEach(() => emptyLab(db));

const count = async (table: "benchmark_report" | "benchmark_unexamined") => {
  const [row] = await db.many(
    z.object({ count: z.number() }),
    table === "benchmark_report"
      ? sql`select count(*) from benchmark_report`
      : sql`select count(*) from benchmark_unexamined`,
  );
  return row?.count;
};

/** Two servers, and a collector that measures the child as slower by a fifth in every way. */
async function aLabWith(parentBackends: readonly string[]) {
  await storeSuite(db, aSuite({ pairs: { default: true, rounds: [10] } }));
  const parent = await storeArtifact(db, { tag: "parent", backends: parentBackends });
  await storeArtifact(db, { tag: "child", parent });
  const one = aService(db, { hooks: reportHooks });
  const other = aService(otherDb, { hooks: reportHooks });
  const server = aLabServer(db);
  const collector = await aCollector(server, { set: 0 });
  const done: string[] = [];

  const secondsOf = (tag: string, i: number) => (tag === "child" ? 1.2 : 1) + (i % 3) / 1_000;
  const measure = async (job: ClaimedBenchmarkJob) => {
    done.push(`${job.purpose} ${job.artifact.tag} ${job.cases[0]?.case.backend}`);
    const { tag } = job.artifact;
    for (const each of job.cases) {
      const rest =
        job.against === null
          ? {
              iterations: Array.from({ length: each.iterations?.count ?? 3 }, (_, i) => ({
                iteration: i + 1 + (each.iterations?.after ?? 0),
                values: { instructions: 1_000, "wall-time": secondsOf(tag, i + 1) },
              })),
            }
          : {
              pairs: Array.from({ length: 10 }, (_, i) => ({
                pair: i + 1,
                parentFirst: i % 2 === 0,
                child: { "wall-time": secondsOf("child", i) },
                parent: { "wall-time": secondsOf("parent", i + 1) },
              })),
            };
      await server.report(job.id, collector.holder(job), each.case, rest);
    }
    expect(await collector.end(job)).toEqual({ state: "success" });
  };

  return {
    done,
    collector,
    advance: () => one.advance(),
    submit: (backends: readonly string[], runs?: number) =>
      one.submit({
        ...(runs === undefined ? {} : { runs }),
        artifact: "child",
        parents: "none",
        targets: ["linux-x64"],
        benchmarks: ["alpha"],
        profiles: ["check"],
        backends: [...backends],
      }),
    /** Both servers run at once, after each job, until nothing is left to do. */
    async carryOut() {
      const advance = () => Promise.all([one.advance(), other.advance(), one.advance()]);
      await advance();
      for (let job = await collector.claim(); job !== null; job = await collector.claim()) {
        await measure(job);
        await advance();
      }
    },
  };
}

test("a request leads through backfill, pairs and their rerun to one report, on any of two servers", async () => {
  const lab = await aLabWith(["js"]);
  const { id } = await lab.submit(["js"]);

  await lab.carryOut();

  expect(lab.done).toEqual([
    "backfill parent js",
    "own child js",
    "paired child js",
    "confirm child js",
  ]);
  expect(await count("benchmark_report")).toBe(1);
  const report = await readReport(db, id, undefined);
  expect(report).toMatchObject({ before: "parent", after: "child", direction: "regression" });
  expect(report.changes).toMatchObject([
    { case: { scenario: "full" }, metric: "wall-time", evidence: { confirmed: true } },
    { case: { scenario: "incremental" }, metric: "wall-time", evidence: { confirmed: true } },
  ]);
  // Both artifacts have new figures, whose series are examined.
  expect(await count("benchmark_unexamined")).toBe(2);
});

test("a parent without the backend is not measured with it, and the report names what is missing", async () => {
  const lab = await aLabWith(["js"]);
  const { id } = await lab.submit(["js", "native"]);

  await lab.carryOut();

  expect(lab.done).toEqual([
    "backfill parent js",
    "own child js",
    "own child native",
    "paired child js",
    "confirm child js",
  ]);
  const report = await readReport(db, id, undefined);
  expect(JSON.stringify(report.missing)).toContain("native");
});

test("a repeated request measures only pairs again, and has its own report", async () => {
  const lab = await aLabWith(["js"]);
  await lab.submit(["js"]);
  await lab.carryOut();
  const before = lab.done.length;

  await lab.submit(["js"]);
  await lab.carryOut();

  // Pairs are measured anew each time, as independent evidence.
  expect(lab.done.slice(before)).toEqual(["paired child js"]);
  expect(await count("benchmark_report")).toBe(2);
});

test("a request with more runs measures only the missing runs of child and parent", async () => {
  const lab = await aLabWith(["js"]);
  await lab.submit(["js"]);
  await lab.carryOut();
  const before = lab.done.length;

  await lab.submit(["js"], 5);
  await lab.carryOut();
  await lab.submit(["js"], 4);
  await lab.carryOut();

  expect(lab.done.slice(before)).toEqual([
    "backfill parent js",
    "own child js",
    // Pairs are measured anew each time, as independent evidence.
    "paired child js",
    "paired child js",
  ]);
  const results = await db.many(
    z.object({ iterations: z.number(), last: z.number() }),
    sql`
      select distinct result.iterations, (
        select max(iteration) from benchmark_collection as taken
        where taken.artifact_id = result.artifact_id and taken.case_id = result.case_id) as last
      from benchmark_result as result
    `,
  );
  expect(results).toEqual([{ iterations: 5, last: 5 }]);
});

test("a job with additional runs does not succeed before they are reported", async () => {
  const lab = await aLabWith(["js"]);
  await lab.submit(["js"]);
  await lab.carryOut();

  await lab.submit(["js"], 5);
  await lab.advance();
  const job = await lab.collector.claim();
  if (job === null) throw new Error("no job");

  expect(job.cases.map(({ iterations }) => iterations)).toEqual([
    { after: 3, count: 2 },
    { after: 3, count: 2 },
  ]);
  expect(await lab.collector.end(job)).toEqual({ state: "queued" });
});
