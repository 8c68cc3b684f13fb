import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jobsDoneOnce } from "#access/audit.store.ts";
import { everybody } from "#access/principal.ts";
import { Retrigger } from "#api/rerun.ts";
import type { Db, Tx } from "#db/db.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { cancelGraph } from "../cancel-graph.ts";
import type { GraphId } from "../graph-id.ts";
import { runsOf } from "../job-detail.store.ts";
import { failing, farmOfReruns } from "./farm-of-reruns.fixture.ts";
import { retrigger } from "./retrigger.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfReruns>>;
beforeAll(async () => {
  farm = await farmOfReruns(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const chain = [
  "  a: {commands: 'run-a # MARK'}",
  "  b: {commands: 'run-b # MARK', needs: [a]}",
  "  green: {commands: 'run-green # MARK', needs: {a: {on: end}}}",
].join("\n");

async function staleJobs(id: GraphId): Promise<string[]> {
  return (await farm.graph(id)).jobList.filter(({ stale }) => stale).map(({ name }) => name);
}

describe("a job failed, one was skipped because of it, one ran at its end", () => {
  test("retriggered with success: the skipped job runs, the one that ran is only stale", async () => {
    const id = await farm.graphOf(chain);
    await farm.work(failing("run-a"));
    expect(await farm.states(id)).toEqual({ a: "failed", b: "unreachable", green: "succeeded" });

    await farm.again(id, { jobs: ["a"] });
    expect(await farm.states(id)).toMatchObject({ a: "ready", b: "blocked", green: "succeeded" });
    await farm.work();

    expect(await farm.states(id)).toEqual({ a: "succeeded", b: "succeeded", green: "succeeded" });
    expect(await farm.causes(id, "b")).toEqual(["revive"]);
    expect(await staleJobs(id)).toEqual(["green"]);
    expect((await farm.graph(id)).state).toBe("succeeded");
  });

  test("alone: a skipped job is set inactive, and runs when it is activated", async () => {
    const id = await farm.graphOf(chain);
    await farm.work(failing("run-a"));

    await farm.again(id, { jobs: ["a"], mode: "alone" });
    await farm.work();

    expect(await farm.states(id)).toEqual({ a: "succeeded", b: "inactive", green: "succeeded" });
    await farm.again(id, { jobs: ["b"] });
    await farm.work();
    expect(await farm.causes(id, "b")).toEqual(["activate"]);
  });

  test("downstream: a job that ran runs again, after it", async () => {
    const id = await farm.graphOf(chain);
    await farm.work(failing("run-a"));

    await farm.again(id, { jobs: ["a"], mode: "downstream" });
    expect(await farm.states(id)).toMatchObject({ a: "ready", green: "blocked" });
    await farm.work();

    expect(await farm.causes(id, "green")).toEqual(["first", "downstream"]);
    expect(await staleJobs(id)).toEqual([]);
  });

  test("a stale job runs again without the cause of its staleness", async () => {
    const id = await farm.graphOf(chain);
    await farm.work(failing("run-a"));
    await farm.again(id, { jobs: ["a"] });
    await farm.work();

    await farm.again(id, { selection: "*", onlyStale: true });
    await farm.work();

    expect(await farm.causes(id, "a")).toEqual(["first", "retrigger"]);
    expect(await farm.causes(id, "green")).toEqual(["first", "downstream"]);
    expect(await staleJobs(id)).toEqual([]);
  });
});

test("of two that are retriggered together, the dependent one waits for the new run of the other", async () => {
  const id = await farm.graphOf(chain);
  await farm.work();

  await farm.again(id, { jobs: ["a", "b"] });
  expect(await farm.states(id)).toMatchObject({ a: "ready", b: "blocked" });
  const scripts = await farm.work();

  expect(scripts.map((script) => /run-\w+/.exec(script)?.[0])).toEqual(["run-a", "run-b"]);
  expect((await runsOf(db, id, "b"))[0]).toMatchObject({ number: 2, requestedBy: "anyone" });
});

test("seven retriggers do not change the budget for automatic retries", async () => {
  const id = await farm.graphOf("  a: {commands: 'run-a # MARK', retries: 1}");
  await farm.work();

  for (let i = 0; i < 7; i += 1) {
    await farm.again(id, { jobs: ["a"] });
    await farm.work();
  }
  await farm.again(id, { jobs: ["a"] });
  await farm.work(failing("run-a"));

  const seven = Array.from({ length: 7 }, () => "retrigger");
  expect(await farm.causes(id, "a")).toEqual(["first", ...seven, "retrigger", "auto-retry"]);
  await farm.again(id, { jobs: ["a"] });
  await farm.work(failing("run-a"));
  expect((await farm.causes(id, "a")).slice(-2)).toEqual(["auto-retry", "retrigger"]);
});

test("five runs one after the other, for any outcome, without automatic retries", async () => {
  const id = await farm.graphOf(
    "  a: {commands: 'run-a # MARK', retries: 3}\n  b: {commands: 'run-b # MARK', needs: [a]}",
  );
  await farm.work();

  const planned = await farm.again(id, { jobs: ["a"], times: 5 });
  let count = 0;
  const scripts = await farm.work((script) => {
    if (script.includes("run-a")) count += 1;
    return { exitCode: count % 2 };
  });

  expect(planned?.expected.runs).toBe(5);
  expect(scripts).toHaveLength(5);
  const runs = (await runsOf(db, id, "a")).toReversed().slice(1);
  expect(runs.map(({ cause, outcome }) => [cause, outcome])).toEqual(
    ["failed", "succeeded", "failed", "succeeded", "failed"].map((end) => ["retrigger", end]),
  );
  expect(runs.map(({ why }) => why)).toEqual([
    "retriggered by anyone; run 1 of 5, one after the other",
    ...[2, 3, 4, 5].map((n) => `run ${n} of 5, one after the other, for anyone`),
  ]);
});

test("a series ends when it is cancelled", async () => {
  const id = await farm.graphOf("  a: {commands: 'run-a # MARK'}");
  await farm.work();
  await farm.again(id, { jobs: ["a"], times: 5 });
  await farm.prepare();
  const [leased] = await farm.claim(10_000);
  if (leased === undefined) throw new Error("nothing was handed out");

  await cancelGraph(db, farm.queue, everybody, id, ["a"]);
  await farm.queue.finish({ lease: leased.lease, outcome: "cancelled" });
  await farm.work();

  expect(await farm.causes(id, "a")).toEqual(["first", "retrigger"]);
});

test("a cancelled graph that is retriggered runs, and ends again afterwards", async () => {
  const id = await farm.graphOf(chain);
  await cancelGraph(db, farm.queue, everybody, id);
  expect((await farm.graph(id)).state).toBe("cancelled");

  await farm.again(id, { selection: "*" });
  expect(await farm.graph(id)).toMatchObject({ state: "running", finishedAt: null });
  await farm.work();

  expect((await farm.graph(id)).state).toBe("succeeded");
});

describe("a dry run", () => {
  test("changes nothing, and a request with its token does what it listed", async () => {
    const id = await farm.graphOf(chain);
    await farm.work(failing("run-a"));
    const before = await farm.graph(id);

    const shown = await farm.again(id, { jobs: ["a"], dryRun: true });
    expect(await farm.graph(id)).toEqual(before);
    const done = await farm.again(id, { jobs: ["a"], token: shown?.token });

    expect(shown?.applied).toBe(false);
    expect(done).toEqual({ ...shown, applied: true });
  });

  test("that is outdated is rejected with the changes, and nothing is done", async () => {
    const id = await farm.graphOf(chain);
    await farm.work(failing("run-a"));
    const shown = await farm.again(id, { jobs: ["a", "green"], dryRun: true });
    await farm.again(id, { jobs: ["green"] });

    const late = farm.again(id, { jobs: ["a", "green"], token: shown?.token });

    await expect(late).rejects.toThrow(
      "the effect is no longer the one that was shown; since then green is ready; nothing was done",
    );
    expect((await farm.states(id))["a"]).toBe("failed");
  });
});

test("of two simultaneous retriggers, one runs the job, and the other finds it in progress", async () => {
  const id = await farm.graphOf("  a: {commands: 'run-a # MARK'}");
  await farm.work();

  const both = await Promise.all([
    farm.again(id, { jobs: ["a"] }),
    farm.again(id, { jobs: ["a"] }),
  ]);
  await farm.work();

  expect(new Set(both.map((done) => done?.jobs[0]?.does))).toEqual(
    new Set(["runs", "is left alone"]),
  );
  expect(await farm.causes(id, "a")).toEqual(["first", "retrigger"]);
});

test("a server that dies between any two statements of a retrigger leaves no part of it", async () => {
  const id = await farm.graphOf(chain);
  await farm.work(failing("run-a"));
  const before = await farm.graph(id);

  let lived = 0;
  for (;;) {
    const done = await farm
      .again(id, { jobs: ["a"] }, everybody, dyingAfter(lived))
      .catch((reason: unknown) => reason);
    if (!(done instanceof Error)) break;
    expect(done.message).toBe("the server died");
    expect(await farm.graph(id)).toEqual(before);
    lived += 1;
  }

  expect(lived).toBeGreaterThan(5);
  expect(await farm.states(id)).toMatchObject({ a: "ready", b: "blocked" });
});

/** Returns a database that fails after this number of statements of a transaction. */
function dyingAfter(statements: number): Db {
  return {
    ...db,
    transaction: (work) =>
      db.transaction((tx) => {
        let left = statements;
        const live = () => {
          if (left === 0) throw new Error("the server died");
          left -= 1;
        };
        const mortal: Tx = {
          many: (row, statement) => {
            live();
            return tx.many(row, statement);
          },
          run: (statement) => {
            live();
            return tx.run(statement);
          },
          script: (text) => tx.script(text),
        };
        return work(mortal);
      }),
  };
}

test("a selection can cover a whole set", async () => {
  const first = await farm.graphOf(chain);
  const second = await farm.graphOf(chain);
  await farm.work();
  await db.script(`update graph set set_id = '${first}' where id = '${second}'`);

  const done = await farm.again(second, { selection: "name:a", wholeSet: true });

  expect(done?.jobs.map(({ graph, job, does }) => [graph, job, does])).toEqual(
    [first, second].toSorted().map((graph) => [graph, "a", "runs"]),
  );
});

test.each([
  { request: { jobs: ["gren"] }, says: 'there is no job "gren"; did you mean "green"?' },
  { request: { selection: "gren" }, says: 'did you mean "green"?' },
  { request: {}, says: "name the jobs" },
])("$request is answered with help", async ({ request, says }) => {
  const id = await farm.graphOf(chain);

  await expect(farm.again(id, request)).rejects.toThrow(says);
});

test("a named request is executed once, whoever repeats it, and however far it got", async () => {
  const id = await farm.graphOf(chain);
  await farm.work(failing("run-a"));
  const asked = Retrigger.parse({ jobs: ["a"] });
  const services = { db, pricePerWorkerMinute: 0 };
  const once = "owner/name 900";

  const answers = await Promise.allSettled(
    [1, 2].map(() => retrigger(services, id, asked, everybody, once)),
  );
  await farm.work();

  expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await expect(retrigger(services, id, asked, everybody, once)).rejects.toMatchObject({
    code: "aborted",
  });
  expect(await jobsDoneOnce(db, id, once)).toContain("a");
  expect(await jobsDoneOnce(db, id, "owner/name 901")).toBeUndefined();
  expect(await farm.causes(id, "a")).toHaveLength(2);
});

test("from its end until a retrigger, a graph is idle", async () => {
  const id = await farm.graphOf(chain);
  await farm.work(failing("run-a"));
  expect((await farm.graph(id)).idleMs).toBe(0);
  await db.script(
    `update graph set finished_at = finished_at - interval '1 hour' where id = '${id}'`,
  );

  await farm.again(id, { jobs: ["a"] });
  await farm.work();

  const { idleMs, state } = await farm.graph(id);
  expect(state).toBe("succeeded");
  expect(idleMs).toBeGreaterThanOrEqual(3_600_000);
});

describe("a job with an unfinished run", () => {
  /** Claims ready executions, and returns a function that ends them. */
  async function running(id: GraphId) {
    await farm.prepare();
    const leased = await farm.claim(10_000);
    for (const { lease } of leased) await farm.queue.started(lease, new Date());
    expect(await farm.states(id)).toMatchObject({ a: "running" });
    return async (outcome: "succeeded" | "failed") => {
      const exitCode = outcome === "succeeded" ? 0 : 1;
      for (const { lease } of leased) await farm.queue.finish({ lease, outcome, exitCode });
    };
  }
  const asked = { jobs: ["a"], another: true };

  test("gets one more run after it when requested, and otherwise none", async () => {
    const id = await farm.graphOf(chain);
    const end = await running(id);

    const without = await farm.again(id, { jobs: ["a"] });
    const shown = await farm.again(id, { ...asked, dryRun: true });
    const done = await farm.again(id, { ...asked, token: shown?.token });
    await end("succeeded");
    await farm.work();

    expect(without?.jobs).toMatchObject([{ job: "a", does: "is left alone", cause: null }]);
    expect(done?.jobs).toMatchObject([
      {
        job: "a",
        does: "runs",
        cause: "retrigger",
        why: "after the run that is under way",
        times: 1,
      },
    ]);
    expect(await farm.causes(id, "a")).toEqual(["first", "retrigger"]);
    expect(await farm.states(id)).toMatchObject({ a: "succeeded", b: "succeeded" });
    const [latest] = await runsOf(db, id, "a");
    expect(latest?.why).toBe("run 2 of 2, one after the other, for anyone");
  });

  test("gets as many runs as requested, also by two people, for any outcome", async () => {
    const id = await farm.graphOf(chain);
    const end = await running(id);

    await Promise.all([farm.again(id, { ...asked, times: 2 }), farm.again(id, asked)]);
    await end("failed");
    await farm.work(failing("run-a"));

    expect(await farm.causes(id, "a")).toEqual(["first", "retrigger", "retrigger", "retrigger"]);
  });

  test("that is cancelled gets none of them", async () => {
    const id = await farm.graphOf(chain);
    await farm.prepare();
    await farm.again(id, asked);

    await cancelGraph(db, farm.queue, everybody, id);
    await farm.work();

    expect(await farm.causes(id, "a")).toEqual(["first"]);
  });
});
