import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody } from "#access/principal.ts";
import { digestKey } from "#core/digest.ts";
import { sql } from "#db/sql.ts";
import type { AheadHint } from "#execution/claiming/look-ahead-service.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { type Answer, farmOfGraphs } from "../farm-of-graphs.fixture.ts";
import type { GraphId } from "../graph-id.ts";
import { wholeGraph } from "../graph-page.store.ts";
import { prepareReadyJobs } from "../graph-runner.ts";
import { jobDetail } from "../job-detail.store.ts";
import { activate } from "../reruns/activate.ts";
import { customise } from "../reruns/customise.ts";
import { retrigger } from "../reruns/retrigger.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const usual = `
  scan: {commands: scan, inputs: ["src/**"], outputs: inputs.txt}
  test: {commands: try-it, inputs-from: {job: scan, output: inputs.txt}, may-read: ["src/**"]}`;

/** Commits jobs of a farm of their own: no other test's results are theirs. */
function aRepository(jobs = usual) {
  const mark = randomUUID();
  const write = (files: Record<string, string>, definitions = jobs) => {
    farm.repository.write({
      ".grange/jobs.yml": `version: 1\njobs:${definitions.replaceAll("commands: ", `commands: ": ${mark}; `).replace(/(commands: "[^,}]*)/g, '$1"')}\n`,
      ...files,
    });
    farm.repository.commit("Change");
  };
  write({ "src/a.txt": mark, "src/b.txt": "b", "docs/readme.md": "read me" });
  return { write, mark };
}

const finds =
  (...paths: readonly string[]) =>
  (script: string): Answer =>
    script.includes("scan") ? { outputs: { "inputs.txt": paths.join("\n") } } : {};

async function work(answer: (script: string) => Answer = finds("src/a.txt")) {
  const scripts = await farm.work(answer);
  return scripts.map((script) => /; ([a-z-]+)\n$/.exec(script)?.[1] ?? script);
}

async function jobOf(id: GraphId, name: string) {
  const detail = await jobDetail(db, id, name);
  if (detail === undefined) throw new Error(`no job ${name}`);
  return detail;
}

const services = { db, pricePerWorkerMinute: 0 };

describe("a job whose inputs another job finds", () => {
  test("reads only the files that were found", async () => {
    aRepository();
    const roots: string[] = [];
    const { id } = await farm.submit();

    await farm.work((script, root) => {
      if (script.includes("try-it")) roots.push(root);
      return finds("src/a.txt")(script);
    });

    expect(await farm.states(id)).toEqual({ scan: "succeeded", test: "succeeded" });
    const [root = ""] = roots;
    const only = await farm.parts.inputs.read(
      { url: farm.repository.path, sha: (await graphOf(id)).commit },
      ["src/a.txt"],
    );
    expect(root).toBe(only.root.hash);
  });

  test("has a known result, without its finder, when only files changed that neither may read", async () => {
    const { write } = aRepository();
    const first = await farm.submit();
    await work();
    write({ "docs/readme.md": randomUUID() });

    const second = await farm.submit();
    const scripts = await work();

    expect(scripts).toEqual([]);
    expect(await farm.states(second.id)).toEqual({ scan: "inactive", test: "succeeded" });
    expect((await wholeGraph(db, second.id))?.state).toBe("succeeded");
    const known = await jobOf(second.id, "test");
    expect(known.job).toMatchObject({ cached: true, stale: false, reason: null });
    expect(known.runList[0]?.cachedFrom).toMatchObject({ graphId: first.id, job: "test" });
    expect(known.runList[0]?.message).toMatch(/known before scan had found its inputs/);
    expect((await jobOf(second.id, "scan")).job.reason).toBe(
      "not needed: the result of test was known without it",
    );
  });

  test.each([
    { what: "a file that it may read", change: { "src/b.txt": "other" } },
    { what: "a new file that it may read", change: { "src/c.txt": "c" } },
  ])("is found anew where the commit changed $what", async ({ change }) => {
    const { write } = aRepository();
    await farm.submit();
    await work();
    write(change);

    const { id } = await farm.submit();

    // What the finder finds is the same, and so is the action.
    expect(await work()).toEqual(["scan"]);
    expect((await jobOf(id, "test")).job).toMatchObject({ cached: true, state: "succeeded" });
  });

  test("is searched again when the finder would do something else", async () => {
    const { write } = aRepository();
    await farm.submit();
    await work();
    write({}, usual.replace("commands: scan,", "commands: scan, environment: {DEEP: 1},"));

    await farm.submit();

    expect(await work(finds("src/a.txt", "src/b.txt"))).toEqual(["scan", "try-it"]);
  });

  test("lets its finder run when another job needs it", async () => {
    const { write } = aRepository(`${usual}\n  other: {commands: look, inputs: [], needs: [scan]}`);
    await farm.submit();
    await work();
    write({ "docs/readme.md": randomUUID() });

    const { id } = await farm.submit();
    await work();

    expect(await farm.states(id)).toEqual({
      scan: "succeeded",
      test: "succeeded",
      other: "succeeded",
    });
    expect((await jobOf(id, "test")).job.stale).toBe(false);
  });

  test("has a known result after the other jobs that it needs, depending on their results", async () => {
    const jobs = `
  build: {commands: build, inputs: [docs], outputs: app}${usual.replace("may-read", "needs: [build], may-read")}`;
    const { write } = aRepository(jobs);
    const answer = (app: string) => (script: string) =>
      script.includes("build") ? { outputs: { app } } : finds("src/a.txt")(script);
    await farm.submit();
    await work(answer("one"));
    write({ "docs/readme.md": randomUUID() });

    const same = await farm.submit();
    expect(await work(answer("one"))).toEqual(["build"]);
    write({ "docs/readme.md": randomUUID() });
    const other = await farm.submit();
    expect((await work(answer("two"))).toSorted()).toEqual(["build", "try-it"]);

    expect((await farm.states(same.id))["test"]).toBe("succeeded");
    expect(await farm.states(other.id)).toMatchObject({ scan: "succeeded", test: "succeeded" });
  });

  test("really runs when it is retriggered, together with its finder", async () => {
    const { write } = aRepository();
    await farm.submit();
    await work();
    write({ "docs/readme.md": randomUUID() });
    const { id } = await farm.submit();
    await work();

    const asked = {
      selection: "name:test",
      mode: "alone",
      onlyStale: false,
      times: 1,
      another: false,
    } as const;
    const change = await retrigger(
      services,
      id,
      { ...asked, dryRun: false, wholeSet: false },
      everybody,
    );
    expect(change?.jobs.map(({ job, does }) => [job, does])).toEqual([
      ["scan", "runs because needed"],
      ["test", "runs"],
    ]);

    expect(await work(finds("src/b.txt"))).toEqual(["scan", "try-it"]);
    expect(await farm.states(id)).toEqual({ scan: "succeeded", test: "succeeded" });
  });

  test("does not change when its finder is activated later", async () => {
    const { write } = aRepository();
    await farm.submit();
    await work();
    write({ "docs/readme.md": randomUUID() });
    const { id } = await farm.submit();
    await work();

    await activate(
      services,
      id,
      { selection: "name:scan", downstream: false, dryRun: false, wholeSet: false } as never,
      everybody,
    );
    await work();

    expect(await farm.states(id)).toEqual({ scan: "succeeded", test: "succeeded" });
    expect((await jobOf(id, "test")).job.stale).toBe(false);
  });

  test("has no known result when the cache is skipped, or a blob of the result is missing", async () => {
    const { write } = aRepository();
    await farm.submit();
    await work((script) =>
      script.includes("scan") ? finds("src/a.txt")(script) : { outputs: { out: "made" } },
    );
    write({ "docs/readme.md": randomUUID() });
    const skipping = await farm.submit({ skipCache: true });
    expect(await work()).toEqual(["scan", "try-it"]);
    expect(await farm.states(skipping.id)).toEqual({ scan: "succeeded", test: "succeeded" });

    await db.run(sql`delete from action_result`);
    write({ "docs/readme.md": randomUUID() });
    await farm.submit();
    expect(await work()).toEqual(["scan", "try-it"]);
  });

  test("has no known result when its finder was customised in the graph", async () => {
    const { write } = aRepository();
    const { id } = await farm.submit();
    await customise(
      services as never,
      id,
      { job: "scan", patch: { environment: { A: "1" } }, dryRun: false } as never,
      everybody,
    );
    await work();
    write({ "docs/readme.md": randomUUID() });

    await farm.submit();

    expect(await work()).toEqual(["scan"]);
  });

  test("with a chain of finders has known results one after the other", async () => {
    const jobs = `
  list: {commands: list, inputs: ["src/**"], outputs: inputs.txt}
  scan: {commands: scan, inputs-from: {job: list, output: inputs.txt}, may-read: ["src/**"], outputs: inputs.txt}
  test: {commands: try-it, inputs-from: {job: scan, output: inputs.txt}, may-read: ["src/**"]}`;
    const { write } = aRepository(jobs);
    const answer = (script: string) =>
      script.includes("try-it") ? {} : { outputs: { "inputs.txt": "src/a.txt" } };
    await farm.submit();
    await work(answer);
    write({ "docs/readme.md": randomUUID() });

    const { id } = await farm.submit();

    expect(await work(answer)).toEqual([]);
    expect(await farm.states(id)).toEqual({
      list: "inactive",
      scan: "succeeded",
      test: "succeeded",
    });
  });
});

test("while a finder runs, similar actions give hints for prefetching", async () => {
  const { write } = aRepository();
  await farm.submit();
  await work();
  const [ran] = await db.many(
    z.object({ action: z.string() }),
    sql`select action_digest as action from run where job = 'test' order by finished_at desc limit 1`,
  );
  write({ "src/a.txt": randomUUID() });
  const { id } = await farm.submit();
  const hints: AheadHint[] = [];

  await prepareReadyJobs({ ...farm.parts, hint: (hint) => hints.push(hint) });

  expect(hints.map(({ actionDigest }) => digestKey(actionDigest))).toEqual([ran?.action]);
  await work();
  expect(await farm.states(id)).toEqual({ scan: "succeeded", test: "succeeded" });
});

describe("a list of inputs", () => {
  test.each([
    { list: "docs/readme.md", says: /job "scan".*"docs\/readme.md", which is outside.*src\/\*\*/ },
    { list: "src/none.txt", says: /"src\/none.txt", which is not in the commit/ },
    { list: "src/a.txt\n../../etc/passwd", says: /line 2: .*has the name "\.\."/ },
    { list: "/etc/passwd", says: /line 1: .*is absolute/ },
    { list: "!src/a.txt", says: /only contains the files that are read/ },
  ])("$list fails the job, and says who wrote it", async ({ list, says }) => {
    aRepository();
    const { id } = await farm.submit();

    await work(finds(list));

    expect(await farm.states(id)).toEqual({ scan: "succeeded", test: "failed" });
    const { runList } = await jobOf(id, "test");
    expect(runList[0]?.message).toMatch(says);
  });
});

test("two servers that look ahead at once end a job once", async () => {
  const { write } = aRepository();
  await farm.submit();
  await work();
  const ids: GraphId[] = [];
  for (let i = 0; i < 8; i++) {
    write({ "docs/readme.md": randomUUID() });
    ids.push((await farm.submit()).id);
  }

  await Promise.all([farm.prepare(), farm.prepare(), farm.prepare()]);
  await work();

  for (const id of ids) {
    expect(await farm.states(id)).toEqual({ scan: "inactive", test: "succeeded" });
    expect((await jobOf(id, "test")).runList).toHaveLength(1);
  }
});

const Graph = z.object({ commit: z.string().transform((sha) => sha as never) });
async function graphOf(id: GraphId) {
  const [row] = await db.many(Graph, sql`select commit from graph where id = ${id}`);
  if (row === undefined) throw new Error("no graph");
  return row;
}
