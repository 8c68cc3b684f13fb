import { afterAll, beforeAll, expect, test } from "vitest";
import type { Verb } from "#core/verb.ts";
import { farmOfGraphs } from "#graphs/farm-of-graphs.fixture.ts";
import { jobDetail } from "#graphs/job-detail.store.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { graphFailures } from "./graph-failures.ts";
import { jobPage } from "./job-page.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const compilerLog = "cc main.c\nmain.c:4:10: error: no\nmake: *** [all] Error 1\n";

/** Commits a content of `build`'s only input, and runs the graph of the commit. */
async function run(content: string, isBroken: boolean) {
  farm.repository.write({
    ".grange/jobs.yml":
      "version: 1\njobs:\n  build: {commands: make, inputs: in.txt}\n  tidy: {commands: rm, inputs: in.txt, needs: {build: {on: end, outputs: []}}}\n  test: {commands: ./t, needs: [build]}",
    "in.txt": content,
  });
  farm.repository.commit(content);
  const { id, graph } = await farm.submit({ skipCache: true });
  await farm.work((script) => {
    if (!isBroken) return {};
    return { exitCode: 2, log: script.includes("make") ? compilerLog : "rm: failed\n" };
  });
  return { id, commit: graph.commit };
}

test("says what failed, since which commit, and how its log ends", async () => {
  const good = await run("good", false);
  const bad = await run("bad", true);
  const worse = await run("worse", true);

  const found = await graphFailures({ db, blobsOf: () => farm.store }, worse.id, true);

  expect(found).toMatchObject({ graph: worse.id, more: 0, skipped: 1 });
  expect(found?.failures.map(({ job, because }) => [job, because])).toEqual([
    ["build", null],
    ["tidy", "build"],
  ]);
  expect(found?.failures[0]).toMatchObject({
    run: 1,
    exitCode: 2,
    lastPassed: { id: good.id, commit: good.commit },
    firstFailed: { id: bad.id, commit: bad.commit },
    graphsBetween: 0,
    flaky: false,
    log: {
      lines: [
        { text: "cc main.c", isError: false },
        { text: "main.c:4:10: error: no", isError: true },
        { text: "make: *** [all] Error 1", isError: false },
      ],
      continues: false,
    },
  });
});

test("an action that succeeded before and fails now is flaky", async () => {
  await run("same", false);
  const { id } = await run("same ", true);
  const first = await graphFailures({ db, blobsOf: () => farm.store }, id, true);
  const again = await run("same", true);

  const second = await graphFailures({ db, blobsOf: () => farm.store }, again.id, true);

  expect(first?.failures[0]?.flaky).toBe(false);
  expect(second?.failures[0]?.flaky).toBe(true);
});

test("who may not read logs gets none", async () => {
  const { id } = await run("secret", true);

  const found = await graphFailures({ db, blobsOf: () => farm.store }, id, false);

  expect(found?.failures.map(({ log }) => log)).toEqual([null, null]);
});

test("the page of a job says why it failed, with the log for those who may read logs", async () => {
  const { id } = await run("page", true);
  const pageFor = async (job: string, ...verbs: Verb[]) => {
    const detail = await jobDetail(db, id, job);
    if (detail === undefined) throw new Error(`there is no job ${job}`);
    const everywhere = { repository: "*", branch: "*", priorityCap: null, top: false };
    const grants = verbs.map((verb) => ({ ...everywhere, verb }));
    const services = { db, blobsOf: () => farm.store };
    return jobPage(services, { ...detail, waiting: null }, { name: "ada", grants });
  };

  const reader = await pageFor("build", "read");
  const readerOfLogs = await pageFor("build", "read", "read-logs");
  const skipped = await pageFor("test", "read", "read-logs");

  expect(reader.failure).toMatchObject({ job: "build", exitCode: 2, log: null });
  expect(readerOfLogs.failure?.log?.lines).toContainEqual({
    text: "main.c:4:10: error: no",
    isError: true,
  });
  expect(readerOfLogs.neighbours).toEqual([
    { name: "test", state: "unreachable" },
    { name: "tidy", state: "failed" },
  ]);
  expect(skipped.failure).toBeNull();
  expect(skipped.neighbours).toEqual([{ name: "build", state: "failed" }]);
});

test("one job can be asked for", async () => {
  const { id } = await run("single", true);

  const found = await graphFailures({ db, blobsOf: () => farm.store }, id, true, "tidy");

  expect(found?.failures.map(({ job }) => job)).toEqual(["tidy"]);
  expect(found?.skipped).toBe(1);
});
