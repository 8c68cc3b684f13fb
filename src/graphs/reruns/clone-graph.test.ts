import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { allPlaces } from "#core/place-patterns.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { GraphId } from "../graph-id.ts";
import { graphSet } from "../sets/graph-set.store.ts";
import { submitGraph } from "../submit-graph.ts";
import { farmOfReruns } from "./farm-of-reruns.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfReruns>>;
beforeAll(async () => {
  farm = await farmOfReruns(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const jobs = [
  "  a: {commands: 'run-a # MARK', ttl: 1h}",
  "  b: {commands: 'run-b # MARK', needs: [a], tags: {suite: unit}}",
  "  c: {commands: 'run-c # MARK'}",
].join("\n");

async function cloneOf(...asked: Parameters<typeof farm.clone>) {
  const cloned = await farm.clone(...asked);
  return { ...cloned, id: GraphId.parse(cloned?.graph?.id) };
}

describe("a clone", () => {
  test("has the definitions and edges, in the same set, and no runs", async () => {
    const original = await farm.graphOf(jobs);
    await farm.work();

    const { id, graph } = await cloneOf(original);

    expect(graph).toMatchObject({
      set: original,
      parent: { id: original, kind: "clone" },
      submittedBy: "anyone",
      state: "running",
    });
    const [was, is] = [await farm.graph(original), await farm.graph(id)];
    expect(is.jobList.map(({ name, runs, state }) => [name, runs, state])).toEqual([
      ["a", 0, "ready"],
      ["b", 0, "blocked"],
      ["c", 0, "ready"],
    ]);
    expect(is.edges.map(({ job, on, condition }) => [job, on, condition])).toEqual(
      was.edges.map(({ job, on, condition }) => [job, on, condition]),
    );
    expect(is.catalog).toBe(was.catalog);
    expect((await farm.job(id, "a")).runList).toEqual([]);
    expect((await graphSet(db, original, allPlaces))?.graphs.map((one) => one.id)).toEqual([
      original,
      id,
    ]);
    expect((await farm.job(original, "a")).origin.lineage.children).toMatchObject([
      { id, kind: "clone" },
    ]);
  });

  test("runs by itself, and gets earlier results from the cache", async () => {
    const original = await farm.graphOf(jobs);
    await farm.work();

    const { id } = await cloneOf(original, { ownSet: true });
    const scripts = await farm.work();

    expect(scripts).toEqual([]);
    expect(await farm.graph(id)).toMatchObject({ state: "succeeded", set: id });
  });

  test("of a part has the selected jobs and the jobs that they need", async () => {
    const original = await farm.graphOf(jobs);

    const { id, jobs: names } = await cloneOf(original, { selection: "suite:unit" });

    expect(names).toEqual(["a", "b"]);
    expect(Object.keys(await farm.states(id))).toEqual(["a", "b"]);
  });

  test("is possible when the original has expired", async () => {
    const original = await farm.graphOf(jobs);
    await db.script(`
      update job set state = 'failed', set_aside = 'expired-failed', wanted = null
      where graph_id = '${original}' and name = 'a'
    `);

    const { id } = await cloneOf(original);
    await farm.work();

    expect((await farm.graph(id)).state).toBe("succeeded");
  });

  test("with a given id is made once", async () => {
    const original = await farm.graphOf(jobs);
    const id = randomUUID();

    const [first, second] = [await cloneOf(original, { id }), await cloneOf(original, { id })];

    expect([first.id, second.id]).toEqual([id, id]);
    expect((await farm.job(first.id, "a")).origin.audit).toHaveLength(1);
  });
});

describe("of an outsider's graph", () => {
  const rules = { network: false, platform: {} };
  const ofOutsider = async () => {
    await farm.graphOf(jobs);
    const { graph } = await submitGraph(
      farm.submission,
      { repository: farm.repository.path },
      everybody,
      { outsiders: rules },
    );
    return GraphId.parse(graph.id);
  };

  test("today's definitions must satisfy the limits for outsiders, also in clones of the clone", async () => {
    const original = await ofOutsider();
    const { id } = await cloneOf(original);
    await farm.graphOf(`${jobs}\n  d: {commands: new, network: true}`);

    for (const each of [original, id]) {
      await expect(farm.clone(each, { mode: "today" })).rejects.toThrow(
        /job "d": pull requests from forks may not have network here/,
      );
      expect((await farm.clone(each, { dryRun: true }))?.todayProblem).toContain("network");
    }
    const own = await farm.graphOf(`${jobs}\n  d: {commands: new, network: true}`);
    expect((await farm.clone(own, { mode: "today" }))?.applied).toBe(true);
  });

  test("allowed definitions are used today, too", async () => {
    const original = await ofOutsider();
    await farm.graphOf(`${jobs}\n  d: {commands: new}`);
    const { id } = await cloneOf(original, { mode: "today" });

    expect(Object.keys(await farm.states(id))).toEqual(["a", "b", "c", "d"]);
  });
});

describe("of a customised graph", () => {
  const customised = async () => {
    const original = await farm.graphOf(jobs);
    await farm.customise(original, { job: "a", patch: { timeout: "2h" } });
    return original;
  };

  test("as it ran: with the customisations, marked as such", async () => {
    const { id } = await cloneOf(await customised());

    const { job, definition, origin } = await farm.job(id, "a");
    expect(job.customised).toBe(true);
    expect(definition).toMatchObject({ timeout: "2h", ttl: "1h" });
    expect(origin.patch).toEqual({ timeout: "2h" });
  });

  test("uncustomised: without them", async () => {
    const { id } = await cloneOf(await customised(), { mode: "uncustomised" });

    const { job, definition } = await farm.job(id, "a");
    expect(job.customised).toBe(false);
    expect(definition).not.toHaveProperty("timeout");
  });

  test("today: with the branch's present definitions, for the same commit", async () => {
    const original = await customised();
    const { commit } = await farm.graph(original);
    await farm.graphOf(`${jobs.replace("ttl: 1h", "ttl: 3h")}\n  d: {commands: new}`);

    const { id, graph } = await cloneOf(original, { mode: "today" });

    expect(graph).toMatchObject({ commit, set: original });
    expect(Object.keys(await farm.states(id))).toEqual(["a", "b", "c", "d"]);
    expect((await farm.job(id, "a")).definition).toMatchObject({ ttl: "3h" });
    expect((await farm.job(id, "a")).job.customised).toBe(false);
  });

  test("a dry run compares the three, and makes nothing", async () => {
    const original = await customised();
    const mark = (await farm.job(original, "a")).definition as { commands: string[] };
    await farm.graphOf(
      `  a: {commands: ${JSON.stringify(mark.commands[0])}, ttl: 3h}\n  d: {commands: new}`,
    );

    const shown = await farm.clone(original, { dryRun: true });

    expect(shown).toMatchObject({ applied: false, graph: null, todayProblem: null });
    expect(shown?.differences).toMatchObject([
      {
        job: "a",
        customisations: [{ path: "timeout", is: "2h" }],
        changesSince: [{ path: "ttl", was: "1h", is: "3h" }],
      },
      { job: "b", today: null },
      { job: "c", today: null },
    ]);
    expect((await farm.job(original, "a")).origin.lineage.children).toEqual([]);
  });
});

describe("of a graph with a choice among its definitions", () => {
  const written = (more = "") =>
    [
      "version: 1",
      "parameters: {level: {type: number, default: 1}}",
      "switches: {pgo: {default: false}}",
      "graphs: {nightly: {select: 'suite:night', inactive: slow, parameters: {level: 2}}}",
      "jobs:",
      "  fast: {commands: 'fast ${parameters.level}', tags: {suite: night}}",
      "  slow: {commands: 'slow ${switches.pgo}', tags: {suite: night}}",
      "  day: {commands: day}",
      more,
      `# ${randomUUID()}`,
    ].join("\n");
  const commit = (more?: string) => {
    farm.repository.write({ ".grange/jobs.yml": written(more) });
    farm.repository.commit("Change");
  };

  test("today: the same choice, among today's definitions", async () => {
    commit();
    const asked = { graph: "nightly", parameters: { level: 3 }, switches: { pgo: true } };
    const original = (await farm.submit({ ...asked, ttl: "4h" })).id;
    commit(
      "  newer: {commands: n, tags: {suite: night}}\n  other: {commands: o, tags: {suite: noon}}",
    );
    await farm.submit();

    const { id } = await cloneOf(original, { mode: "today" });

    expect(await farm.states(id)).toEqual({ fast: "ready", newer: "ready", slow: "inactive" });
    expect((await farm.job(id, "fast")).definition).toMatchObject({ commands: ["fast 3"] });
    const again = await cloneOf(id, { mode: "today" });
    expect(await farm.states(again.id)).toEqual(await farm.states(id));
    expect(await ttlOf(again.id, "newer")).toBe(4 * 3_600_000);
  });

  test("today: the selection at submission, and jobs activated since", async () => {
    commit();
    const original = (await farm.submit({ graph: "nightly", select: "slow | fast" })).id;
    await farm.activate(original, { jobs: ["slow"] });
    commit("  newer: {commands: n, tags: {suite: night}}");
    await farm.submit();

    const { id } = await cloneOf(original, { mode: "today" });

    expect(await farm.states(id)).toEqual({ fast: "ready", slow: "ready" });
  });

  test("today: a named graph that no longer exists is reported as missing", async () => {
    commit();
    const original = (await farm.submit({ graph: "nightly" })).id;
    await farm.graphOf(jobs);

    await expect(farm.clone(original, { mode: "today" })).rejects.toThrow('no graph "nightly"');
    expect(await farm.clone(original, { dryRun: true })).toMatchObject({
      todayProblem: expect.stringContaining('no graph "nightly"'),
    });
  });
});

async function ttlOf(id: string, job: string): Promise<number | null | undefined> {
  const rows = await db.many(
    z.object({ ttl: z.number().nullable() }),
    sql`select ttl_ms as ttl from job where graph_id = ${id} and name = ${job}`,
  );
  return rows[0]?.ttl;
}
