import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { Fault } from "#core/fault.ts";
import { allPlaces } from "#core/place-patterns.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { cancelGraph, passCancellationsOn } from "./cancel-graph.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { GraphId } from "./graph-id.ts";
import { graphChangesSince, wholeGraph } from "./graph-page.store.ts";
import { prepareReadyJobs, startGraphRunner } from "./graph-runner.ts";
import { listGraphs, listRepositories } from "./graph-summary.store.ts";
import { jobDetail, jobsServedBy } from "./job-detail.store.ts";
import { takeReadyJobs } from "./ready-job.store.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

/** Commits definitions with a line that makes the commit and its actions unique. */
function commitJobs(jobs: string, files: Record<string, string> = {}): void {
  farm.repository.write({
    ".grange/jobs.yml": `version: 1\njobs:\n${jobs}\n# ${randomUUID()}`,
    ...files,
  });
  farm.repository.commit("Change");
}

describe("a graph", () => {
  test("runs its jobs in the order of their needs, and succeeds", async () => {
    commitJobs(
      "  build: {commands: make, outputs: app}\n  test: {commands: ./app, needs: [build]}",
    );
    const { id } = await farm.submit();

    const scripts = await farm.work((script) =>
      script.includes("make") ? { outputs: { app: randomUUID() } } : {},
    );

    expect(scripts.map((script) => script.split("\n").at(-2))).toEqual(["make", "./app"]);
    expect(await wholeGraph(db, id)).toMatchObject({
      state: "succeeded",
      jobs: 2,
      counts: { succeeded: 2 },
    });
  });

  test("with the same inputs executes nothing, and names the run that made the results", async () => {
    commitJobs("  a: {commands: echo once, inputs: in.txt}", { "in.txt": randomUUID() });
    const first = await farm.submit();
    await farm.work();
    farm.repository.write({ "other.txt": randomUUID() });
    farm.repository.commit("Something else");

    const second = await farm.submit();
    const scripts = await farm.work();

    expect(scripts).toEqual([]);
    const detail = await jobDetail(db, second.id, "a");
    expect(detail?.job).toMatchObject({ state: "succeeded", cached: true });
    expect(detail?.runList[0]?.cachedFrom).toMatchObject({ graphId: first.id, job: "a" });
  });

  test("that skips the cache executes jobs whose results are cached", async () => {
    commitJobs("  a: {commands: echo twice, inputs: in.txt}", { "in.txt": randomUUID() });
    await farm.submit();
    await farm.work();

    await farm.submit({ skipCache: true });

    expect(await farm.work()).toHaveLength(1);
  });

  test("uses outputs of an earlier job as inputs", async () => {
    commitJobs(
      "  a: {commands: make, outputs: out}\n  b: {commands: use, inputs: [], needs: {a: {at: in}}}",
    );
    await farm.submit();
    const roots: string[] = [];
    const answer = (text: string) => (script: string, root: string) => {
      if (script.includes("use")) roots.push(root);
      return script.includes("make") ? { outputs: { out: text } } : {};
    };

    await farm.work(answer("one"));
    await farm.submit({ skipCache: true });
    await farm.work(answer("two"));

    expect(new Set(roots).size).toBe(2);
  });

  test("shows skipped jobs, and the reason", async () => {
    commitJobs(
      `  a: {commands: "exit 3 # ${randomUUID()}"}\n  b: {commands: x, needs: [a]}\n  c: {commands: y, needs: {a: {on: failure}}}`,
    );
    const { id } = await farm.submit();

    await farm.work((script) => ({ exitCode: script.includes("exit 3") ? 3 : 0 }));

    expect(await farm.states(id)).toEqual({ a: "failed", b: "unreachable", c: "succeeded" });
    expect((await jobDetail(db, id, "b"))?.job.reason).toBe("skipped because a failed");
    expect((await wholeGraph(db, id))?.state).toBe("failed");
  });

  test("retries a failed job as often as allowed, and each run has a cause", async () => {
    commitJobs(`  a: {commands: "flaky # ${randomUUID()}", retries: 2}`);
    const { id } = await farm.submit();
    let tries = 0;

    await farm.work(() => ({ exitCode: ++tries < 3 ? 1 : 0 }));

    const detail = await jobDetail(db, id, "a");
    expect(detail?.runList.map((run) => run.cause)).toEqual(["auto-retry", "auto-retry", "first"]);
    expect(detail?.job.state).toBe("succeeded");
  });

  test("fails a job whose input does not exist, with the reason", async () => {
    commitJobs("  a: {commands: x, inputs: src/mian.ts}", { "src/main.ts": "1" });
    const { id } = await farm.submit();

    await farm.work();

    expect((await jobDetail(db, id, "a"))?.job).toMatchObject({
      state: "failed",
      reason: 'inputs: "src/mian.ts" is not in the commit; did you mean "src/main.ts"?',
    });
  });

  test("fails a job that uses outputs that were not made", async () => {
    commitJobs(
      "  a: {commands: make nothing, outputs: [out]}\n  b: {commands: use, needs: {a: {outputs: out}}}",
    );
    const { id } = await farm.submit({ skipCache: true });

    await farm.work();

    expect((await jobDetail(db, id, "b"))?.job.reason).toBe(
      'job "a" did not make "out", which this job uses',
    );
  });

  test("that is cancelled ends: waiting jobs at once, running jobs when they have ended", async () => {
    commitJobs(`  a: {commands: "long # ${randomUUID()}"}\n  b: {commands: x, needs: [a]}`);
    const { id } = await farm.submit();
    await farm.prepare();

    await cancelGraph(db, farm.queue, everybody, id);

    expect(await farm.states(id)).toEqual({ a: "cancelled", b: "cancelled" });
    expect((await wholeGraph(db, id))?.state).toBe("cancelled");
  });

  test("that is cancelled does not end executions that another graph needs", async () => {
    commitJobs(`  a: {commands: "shared # ${randomUUID()}"}`);
    const [first, second] = [await farm.submit(), await farm.submit()];
    await farm.prepare();

    await cancelGraph(db, farm.queue, everybody, first.id);
    await farm.work();

    expect([await farm.states(first.id), await farm.states(second.id)]).toEqual([
      { a: "cancelled" },
      { a: "succeeded" },
    ]);
  });
});

test("submitting the same id twice submits it once", async () => {
  commitJobs("  a: {commands: x}");
  const id = randomUUID();

  const [first, second] = [await farm.submit({ id }), await farm.submit({ id })];

  expect([first.isNew, second.isNew]).toEqual([true, false]);
  await farm.work();
});

test("a job whose preparation a dead server had begun is taken by another", async () => {
  commitJobs(`  a: {commands: "x # ${randomUUID()}"}`);
  const { id } = await farm.submit();
  await takeReadyJobs(db, 16, 0);

  await farm.work();

  expect(await farm.states(id)).toEqual({ a: "succeeded" });
});

test("a job that cannot be prepared because of the farm shows the reason, and is prepared later", async () => {
  commitJobs(`  a: {commands: "x # ${randomUUID()}"}`);
  const { id } = await farm.submit();
  const full = new Fault("unavailable", "the store is away");
  const broken = { ...farm.parts.store, put: () => Promise.reject(full) };

  await prepareReadyJobs({
    ...farm.parts,
    inProject: (project) => ({ ...farm.parts.inProject(project), store: broken }),
  });

  const [job] = (await wholeGraph(db, id))?.jobList ?? [];
  expect(job).toMatchObject({
    state: "ready",
    reason: "cannot be prepared, trying again: the store is away",
  });
  await db.run(sql`update job set preparing_until = now() where graph_id = ${id}`);
  await farm.work();
  expect(await farm.states(id)).toEqual({ a: "succeeded" });
});

test("parallel servers give each job one run", async () => {
  const mark = randomUUID();
  commitJobs(
    Array.from({ length: 60 }, (_, i) => `  j${i}: {commands: "x ${i} ${mark}"}`).join("\n"),
  );
  const { id } = await farm.submit();

  await Promise.all([farm.prepare(), farm.prepare(), farm.prepare()]);

  const jobs = (await wholeGraph(db, id))?.jobList ?? [];
  expect(jobs.map(({ state, runs }) => ({ state, runs }))).toEqual(
    Array(60).fill({ state: "queued", runs: 1 }),
  );
  await farm.work();
  expect((await wholeGraph(db, id))?.state).toBe("succeeded");
});

test("a requested end is executed by another server when the first died", async () => {
  commitJobs(`  a: {commands: "x # ${randomUUID()}"}`);
  const { id } = await farm.submit();
  await farm.prepare();
  const deadServer = { ...farm.queue, transaction: () => Promise.reject(new Error("dead")) };
  await expect(cancelGraph(db, deadServer, everybody, id)).rejects.toThrow("dead");

  await passCancellationsOn(db, farm.queue);

  expect(await farm.states(id)).toEqual({ a: "cancelled" });
});

test("each change has a version, and a request since a version returns the later changes", async () => {
  commitJobs(
    `  a: {commands: "x # ${randomUUID()}"}\n  b: {commands: y, needs: [a]}\n  c: {commands: "z # ${randomUUID()}"}`,
  );
  const { id, graph } = await farm.submit();
  expect((await graphChangesSince(db, id, graph.version))?.jobs).toEqual([]);
  await farm.work((script) => ({ exitCode: script.includes("z #") ? 1 : 0 }));

  const all = await graphChangesSince(db, id, graph.version);
  const last = await graphChangesSince(db, id, (all?.graph.version ?? 0) - 1);

  expect(all?.jobs.map((job) => job.name)).toEqual(["a", "b", "c"]);
  expect(last?.jobs.length).toBeLessThan(3);
  expect(Math.max(...(all?.jobs ?? []).map((job) => job.version))).toBe(all?.graph.version);
});

test("graphs are listed newest first, page by page, and repositories with their latest", async () => {
  const all = await listGraphs(db, { limit: 100, places: allPlaces });
  const page = await listGraphs(db, {
    limit: 2,
    before: GraphId.parse(all[0]?.id),
    places: allPlaces,
  });

  expect(page.map((graph) => graph.id)).toEqual(all.slice(1, 3).map((graph) => graph.id));
  expect((await listRepositories(db, allPlaces))[0]).toMatchObject({
    graphs: all.length,
    latest: { id: all[0]?.id },
  });
});

test("the runner wakes when a graph is stored", async () => {
  commitJobs(`  a: {commands: "woken # ${randomUUID()}"}`);
  const runner = await startGraphRunner(farm.parts);
  const { id } = await farm.submit();

  const leased = await farm.claim(10_000);
  const states = await farm.states(id);
  await runner.stop();

  expect([leased.length, states]).toEqual([1, { a: "queued" }]);
  await cancelGraph(db, farm.queue, everybody, id);
});

test("an unfinished run names its worker, and a log reader finds its execution", async () => {
  commitJobs(`  a: {commands: "busy # ${randomUUID()}"}`);
  const { id } = await farm.submit();
  await farm.prepare();
  const [leased] = await farm.claim(10_000);
  if (leased === undefined) throw new Error("nothing was handed out");
  await farm.queue.started(leased.lease, new Date());

  const [run] = (await jobDetail(db, id, "a"))?.runList ?? [];

  expect(run).toMatchObject({
    state: "running",
    worker: "w",
    executionId: leased.lease.executionId,
  });
  expect(await jobsServedBy(db, [leased.lease.executionId])).toMatchObject([
    { graphId: id, job: "a" },
  ]);
  await cancelGraph(db, farm.queue, everybody, id);
});

test("stored counts, edges and states are consistent", async () => {
  const wrong = await db.many(
    z.object({ id: z.string() }),
    sql`
      select graph.id from graph
      where counts <> (
        select jsonb_object_agg(state, number)
        from (select state, count(*) as number from job where graph_id = graph.id group by state) as c
      )
      or exists (
        select from job
        where graph_id = graph.id and (open_edges, failed_edges) <> (
          select count(*) filter (where status = 'open'), count(*) filter (where status = 'failed')
          from edge where edge.graph_id = graph.id and edge.job = job.name
        )
      )
    `,
  );

  expect(wrong).toEqual([]);
});
