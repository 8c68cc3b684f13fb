import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { Retrigger } from "#api/rerun.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { cancelGraph } from "../cancel-graph.ts";
import { GraphId } from "../graph-id.ts";
import { wholeGraph } from "../graph-page.store.ts";
import { retrigger } from "../reruns/retrigger.ts";
import { farmOfKinds } from "./farm-of-kinds.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfKinds>>;
beforeAll(async () => {
  farm = await farmOfKinds(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

/** Returns the graphs that jobs of a graph made, the oldest first. */
async function childrenOf(id: GraphId): Promise<GraphId[]> {
  const rows = await db.many(
    z.object({ id: GraphId }),
    sql`select id from graph where parent_id = ${id} order by number`,
  );
  return rows.map((row) => row.id);
}

const inline = (jobs: string) => `  g: {kind: graph, definitions: {version: 1, jobs: ${jobs}}}`;
const writes = (text: string) => ({ outputs: { ".grange-graph.yml": text } });

describe("a graph job", () => {
  test("whose commands write definitions runs these, and ends with the same outcome", async () => {
    const id = await farm.submitJobs(
      `  g: {kind: graph, commands: "generate # ${randomUUID()}"}\n  after: {kind: dummy, needs: [g]}`,
    );

    const scripts = await farm.workAll((script) =>
      script.includes("generate")
        ? writes(`version: 1\njobs: {inner: {commands: "made # ${randomUUID()}"}}`)
        : {},
    );

    expect(scripts).toHaveLength(2);
    expect(await farm.states(id)).toEqual({ g: "succeeded", after: "succeeded" });
    const [child] = await childrenOf(id);
    const graph = child && (await wholeGraph(db, child));
    expect(graph).toMatchObject({
      state: "succeeded",
      set: id,
      parent: { id, kind: "subgraph", job: "g" },
    });
  });

  test("continues as long as its graph", async () => {
    const id = await farm.submitJobs(inline("{slow: {kind: dummy, dummy: {after: 1h}}}"));
    expect(await farm.states(id)).toEqual({ g: "running" });

    await farm.untilNextDue();

    expect(await farm.states(id)).toEqual({ g: "succeeded" });
  });

  test("whose graph has only joins ends with it at once", async () => {
    const id = await farm.submitJobs(inline("{all: {kind: join}}"));

    expect(await farm.states(id)).toEqual({ g: "succeeded" });
  });

  test("fails when its graph fails, and names the graph and its failed jobs", async () => {
    const id = await farm.submitJobs(inline("{bad: {kind: dummy, dummy: {outcome: failed}}}"));

    expect(await farm.states(id)).toEqual({ g: "failed" });
    const [child] = await childrenOf(id);
    expect((await farm.runs(id, "g"))[0]?.message).toBe(`its graph ${child} failed: bad`);
  });

  test("succeeds when a job of its graph is retriggered and succeeds, and so do dependent jobs", async () => {
    const id = await farm.submitJobs(
      [
        inline(
          "{inner: {kind: graph, definitions: {version: 1, jobs: {flaky: {kind: dummy, dummy: {outcomes: [failed, succeeded]}}}}}}",
        ),
        "  deploy: {kind: dummy, needs: [g]}",
        "  mourn: {kind: dummy, needs: {g: {on: failure}}}",
      ].join("\n"),
    );
    expect(await farm.states(id)).toEqual({
      g: "failed",
      deploy: "unreachable",
      mourn: "succeeded",
    });
    const [child] = await childrenOf(id);
    const [grandchild] = child === undefined ? [] : await childrenOf(child);
    if (child === undefined || grandchild === undefined) throw new Error("it made no graphs");

    await retrigger(
      { db, pricePerWorkerMinute: 0 },
      grandchild,
      Retrigger.parse({ selection: "flaky" }),
      everybody,
    );
    await farm.settle();

    expect(await farm.states(grandchild)).toEqual({ flaky: "succeeded" });
    expect(await farm.states(child)).toEqual({ inner: "succeeded" });
    expect(await farm.states(id)).toMatchObject({ g: "succeeded", deploy: "succeeded" });
    const runs = (await farm.runs(id, "g")).map(({ number, outcome }) => [number, outcome]);
    expect(runs.toSorted(([one], [other]) => Number(one) - Number(other))).toEqual([
      [1, "failed"],
      [2, "succeeded"],
    ]);
    const whole = await wholeGraph(db, id);
    expect(whole?.state).toBe("succeeded");
    expect(whole?.jobList.find(({ name }) => name === "mourn")?.stale).toBe(true);
  });

  test("is left out of a retrigger that repairs its graph, and succeeds with it", async () => {
    const id = await farm.submitJobs(
      [
        inline(
          "{inner: {kind: graph, definitions: {version: 1, jobs: {flaky: {kind: dummy, dummy: {outcomes: [failed, succeeded]}}}}}}",
        ),
        "  alone: {kind: dummy, dummy: {outcomes: [failed, succeeded]}}",
        "  deploy: {kind: dummy, needs: [g, alone]}",
      ].join("\n"),
    );
    const [child] = await childrenOf(id);
    const [grandchild] = child === undefined ? [] : await childrenOf(child);
    if (child === undefined || grandchild === undefined) throw new Error("it made no graphs");
    const services = { db, pricePerWorkerMinute: 0 };
    const failed = { selection: "state:failed", wholeSet: true };

    const shown = await retrigger(
      services,
      id,
      Retrigger.parse({ ...failed, dryRun: true }),
      everybody,
    );
    await retrigger(services, id, Retrigger.parse({ ...failed, token: shown?.token }), everybody);
    await farm.settle();

    const follows = (graph: GraphId) =>
      `failed jobs in its graph ${graph.slice(0, 8)} run again, and it ends with that graph`;
    expect(
      Object.fromEntries((shown?.jobs ?? []).map(({ job, does, why }) => [job, [does, why]])),
    ).toEqual({
      g: ["is left alone", follows(child)],
      inner: ["is left alone", follows(grandchild)],
      flaky: ["runs", null],
      alone: ["runs", null],
    });
    expect(await childrenOf(id)).toEqual([child]);
    expect(await childrenOf(child)).toEqual([grandchild]);
    expect(await farm.states(id)).toEqual({
      g: "succeeded",
      alone: "succeeded",
      deploy: "succeeded",
    });
  });

  test("runs again when only some of the failures in its graph are retriggered with it", async () => {
    const id = await farm.submitJobs(
      inline(
        "{one: {kind: dummy, dummy: {outcome: failed}}, other: {kind: dummy, dummy: {outcome: failed}}}",
      ),
    );

    const shown = await retrigger(
      { db, pricePerWorkerMinute: 0 },
      id,
      Retrigger.parse({ jobs: ["g", "one"], wholeSet: true, dryRun: true }),
      everybody,
    );

    expect(shown?.jobs.map(({ job, does }) => [job, does]).toSorted()).toEqual([
      ["g", "runs"],
      ["one", "runs"],
    ]);
  });

  test("does not change when a job of an earlier run's graph is retriggered", async () => {
    const id = await farm.submitJobs(
      "  g: {kind: graph, retries: 1, definitions: {version: 1, jobs: {flaky: {kind: dummy, dummy: {outcomes: [failed, succeeded]}}}}}",
    );
    const [first] = await childrenOf(id);
    if (first === undefined) throw new Error("it made no graph");

    await retrigger(
      { db, pricePerWorkerMinute: 0 },
      first,
      Retrigger.parse({ selection: "flaky" }),
      everybody,
    );
    await farm.settle();

    expect(await farm.states(first)).toEqual({ flaky: "succeeded" });
    expect(await farm.states(id)).toEqual({ g: "failed" });
    expect(await farm.runs(id, "g")).toHaveLength(2);
  });

  test("that is retried makes a new graph", async () => {
    const id = await farm.submitJobs(
      "  g: {kind: graph, retries: 1, definitions: {version: 1, jobs: {bad: {kind: dummy, dummy: {outcome: failed}}}}}",
    );

    expect(await farm.states(id)).toEqual({ g: "failed" });
    expect(await childrenOf(id)).toHaveLength(2);
  });

  test("that is cancelled also cancels its graph", async () => {
    const id = await farm.submitJobs(inline("{waits: {kind: breakpoint}}"));

    await cancelGraph(db, farm.queue, everybody, id);
    await farm.settle();

    const [child] = await childrenOf(id);
    expect(child && (await wholeGraph(db, child))?.state).toBe("cancelled");
    expect(await farm.states(id)).toEqual({ g: "cancelled" });
  });

  test("whose graph was cancelled is cancelled", async () => {
    const id = await farm.submitJobs(inline("{waits: {kind: breakpoint}}"));
    const [child] = await childrenOf(id);
    if (child === undefined) throw new RangeError("no child");

    await cancelGraph(db, farm.queue, everybody, child);
    await farm.settle();

    expect(await farm.states(id)).toEqual({ g: "cancelled" });
  });

  test("whose result is cached still makes its graph", async () => {
    const commands = `generate # ${randomUUID()}`;
    const jobs = `  g: {kind: graph, inputs: [], commands: "${commands}"}`;
    const made = writes("version: 1\njobs: {inner: {kind: dummy}}");
    await farm.submitJobs(jobs);
    await farm.workAll(() => made);

    const id = await farm.submitJobs(jobs);

    expect(await farm.workAll(() => made)).toEqual([]);
    expect(await farm.states(id)).toEqual({ g: "succeeded" });
    expect((await farm.runs(id, "g"))[0]?.cachedFrom).not.toBeNull();
  });
});

describe("untrusted definitions from commands", () => {
  test.each([
    { what: "nothing", outputs: {}, says: "did not write .grange-graph.yml" },
    { what: "no YAML", outputs: { ".grange-graph.yml": "jobs: [" }, says: ".grange-graph.yml" },
    {
      what: "more than a file may have",
      outputs: { ".grange-graph.yml": `version: 1\n# ${"x".repeat(1024 * 1024)}` },
      says: "more than 1 MiB",
    },
    {
      what: "an alias bomb",
      outputs: {
        ".grange-graph.yml": `version: 1\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [${"*a,".repeat(200)}]\njobs: {}`,
      },
      says: ".grange-graph.yml",
    },
    {
      what: "jobs that wait for each other",
      outputs: {
        ".grange-graph.yml":
          "version: 1\njobs: {a: {kind: dummy, needs: [b]}, b: {kind: dummy, needs: [a]}}",
      },
      says: "wait for each other",
    },
  ])("$what: fails the job, and says what is wrong", async ({ outputs, says }) => {
    const id = await farm.submitJobs(`  g: {kind: graph, commands: "generate # ${randomUUID()}"}`);

    await farm.workAll(() => ({ outputs }));

    expect(await farm.states(id)).toEqual({ g: "failed" });
    expect((await farm.runs(id, "g"))[0]?.message).toContain(says);
  });

  test("a graph that makes itself endlessly is stopped at depth four", async () => {
    const itself = `version: 1\njobs: {g: {kind: graph, inputs: [], commands: "again # ${randomUUID()}"}}`;
    const id = await farm.submitJobs(`  g: {kind: graph, commands: "generate # ${randomUUID()}"}`);

    await farm.workAll(() => writes(itself));

    expect(await farm.states(id)).toEqual({ g: "failed" });
    const rows = await db.many(
      z.object({ graphs: z.number() }),
      sql`select count(*) as graphs from graph where set_id = ${id}`,
    );
    expect(rows[0]?.graphs).toBe(5);
  });
});
