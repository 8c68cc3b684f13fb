import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { everybody, type Principal } from "#access/principal.ts";
import { Clone } from "#api/rerun.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { branchCatalog } from "./catalogs/catalog-source.store.ts";
import { previewGraph } from "./catalogs/preview-graph.ts";
import { farmOfGraphs } from "./farm-of-graphs.fixture.ts";
import { GraphId } from "./graph-id.ts";
import { cloneGraph } from "./reruns/clone-graph.ts";
import { submitGraph } from "./submit-graph.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
let repository: string;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
  const { id } = await submitted({ "a.txt": "1" });
  repository = (await rowOf(id)).repository;
  await farm.work();
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const named = (name: string): Principal => ({ ...everybody, name });

async function rowOf(id: string) {
  const [row] = await db.many(
    z.object({ domain: z.string(), repository: z.string(), branch: z.string() }),
    sql`select domain, repository, branch from graph where id = ${id}`,
  );
  if (row === undefined) throw new Error(`there is no graph ${id}`);
  return row;
}

/** Commits files on the checked-out branch; its job reads only `said`. */
function commit(said: string, files: Record<string, string> = {}): string {
  const jobs = `version: 1\njobs: {a: {commands: "echo ${said}", inputs: []}}\n`;
  farm.repository.write({ ".grange/jobs.yml": jobs, ...files });
  return farm.repository.commit(said);
}

async function submitted(files: Record<string, string>) {
  commit("first", files);
  return farm.submit();
}

/** Creates a pull request whose head is a new commit beside main. */
function pull(number: number, said: string): string {
  const git = (...args: string[]) => farm.repository.git(...args);
  git("checkout", "--quiet", "--detach");
  const sha = commit(said);
  git("update-ref", `refs/pull/${number}/head`, sha);
  git("checkout", "--quiet", "main");
  return sha;
}

/** Submits as the farm does after a message from a forge. */
async function fromForge(ref: string, rev: string, branch?: string) {
  const { graph } = await submitGraph(
    farm.submission,
    { repository: farm.repository.path, rev, ...(branch === undefined ? {} : { branch }) },
    named("forge"),
    { ref },
  );
  return GraphId.parse(graph.id);
}

describe("the domain of a graph", () => {
  test.each([
    ["a branch", { rev: "main" }, "protected"],
    ["HEAD", {}, "protected"],
    ["a bare commit of an open farm", { rev: "main~0" }, "protected"],
  ])("of %s is as it always was", async (_, request, expected) => {
    expect(await rowOf((await farm.submit(request)).id)).toMatchObject({ domain: expected });
  });

  test("without a branch is that of the submitter, if users have names", async () => {
    const sha = farm.repository.git("rev-parse", "main");

    const { id } = await farm.submit({ rev: sha }, named("ada@example.org"));

    expect((await rowOf(id)).domain).toBe("user/ada@example.org");
  });

  test.each(["refs/pull/7/head", "pull/7/head", "refs/pull/7/head~0", "refs/pull/7/head^0"])(
    "of %s is the pull request's, whatever branch is claimed",
    async (rev) => {
      pull(7, "seven");

      for (const request of [{ rev }, { rev, branch: "main" }]) {
        const { id } = await farm.submit(request);
        expect((await rowOf(id)).domain).toBe(`pr/7@${repository}`);
      }
    },
  );

  test("follows from the ref by which the farm itself found the commit", async () => {
    const sha = pull(8, "eight");
    const main = farm.repository.git("rev-parse", "main");

    const ofPull = await fromForge("refs/pull/8/head", sha);
    const ofMain = await fromForge("refs/heads/main", main, "main");
    const ofTag = await fromForge("refs/tags/v1", main);
    const elsewhere = await fromForge("refs/heads/other", main, "main");

    expect((await rowOf(ofPull)).domain).toBe(`pr/8@${repository}`);
    expect((await rowOf(ofMain)).domain).toBe("protected");
    expect((await rowOf(ofTag)).domain).toBe("protected");
    expect((await rowOf(elsewhere)).domain).toBe("user/forge");
  });

  test("in a watched repository requires that the commit is on the claimed branch", async () => {
    const services = { ...farm.submission, isWatched: async () => true };
    const outside = pull(9, "nine");
    const inside = farm.repository.git("rev-parse", "main");
    const domainOf = async (rev: string, branch?: string) => {
      const request = { repository: farm.repository.path, rev, ...(branch ? { branch } : {}) };
      const { graph } = await submitGraph(services, request, named("ada"));
      return (await rowOf(graph.id)).domain;
    };

    expect(await domainOf(inside, "main")).toBe("protected");
    expect(await domainOf("main")).toBe("protected");
    expect(await domainOf("main", "main")).toBe("protected");
    expect(await domainOf(outside, "main")).toBe("user/ada");
    expect(await domainOf(inside, "gone")).toBe("user/ada");
    expect(await domainOf(inside)).toBe("user/ada");
    expect(await domainOf("refs/pull/9/head", "main")).toBe(`pr/9@${repository}`);
  });

  test("is kept by a clone, but only the owner can write into a private one", async () => {
    const sha = farm.repository.git("rev-parse", "main");
    const ofAda = (await farm.submit({ rev: sha }, named("ada"))).id;
    pull(10, "ten");
    const ofPull = (await farm.submit({ rev: "refs/pull/10/head" })).id;
    const clone = async (id: GraphId, by: Principal) => {
      const services = { db, planToday: () => Promise.reject(new Error("nobody asks")) };
      const done = await cloneGraph(services, id, Clone.parse({}), by);
      return (await rowOf(done?.graph?.id ?? "")).domain;
    };

    expect(await clone(ofAda, named("ada"))).toBe("user/ada");
    expect(await clone(ofAda, named("bob"))).toBe("user/bob");
    expect(await clone(ofPull, named("bob"))).toBe(`pr/10@${repository}`);
  });
});

describe("a pull request", () => {
  test("uses results of main, and main uses none of its results: after the merge, it is executed again", async () => {
    await farm.work();
    const sha = pull(20, "twenty");
    await fromForge("refs/pull/20/head", sha);
    expect(await farm.work()).toEqual([expect.stringContaining("echo twenty")]);

    // Again, and for the trial merge: its own results are used.
    await fromForge("refs/pull/20/head", sha);
    expect(await farm.work()).toEqual([]);
    // Another pull request with the same content makes the result for itself.
    farm.repository.git("update-ref", "refs/pull/21/head", sha);
    await fromForge("refs/pull/21/head", sha);
    expect(await farm.work()).toHaveLength(1);

    farm.repository.git("merge", "--quiet", "--ff-only", sha);
    await farm.submit({ rev: "main" });
    expect(await farm.work()).toEqual([expect.stringContaining("echo twenty")]);

    // The results of main are now used for a pull request that never ran it.
    farm.repository.git("update-ref", "refs/pull/22/head", sha);
    await fromForge("refs/pull/22/head", sha);
    expect(await farm.work()).toEqual([]);
  });

  test("does not set the definitions of a branch, even if it is submitted for it", async () => {
    await farm.submit({ rev: "main" });
    const before = await branchCatalog(db, repository, "main");
    pull(30, "thirty");

    await farm.submit({ rev: "refs/pull/30/head", branch: "main" });

    expect(await branchCatalog(db, repository, "main")).toEqual(before);
  });

  test("has a preview with its own results and main's", async () => {
    const sha = pull(40, "forty");
    await fromForge("refs/pull/40/head", sha);
    await farm.work();
    const services = { ...farm.submission, ...farm.parts };
    const look = async (rev: string) => {
      const preview = await previewGraph(services, { repository: farm.repository.path, rev });
      return preview.jobs.map(({ hasResult }) => hasResult);
    };

    expect(await look("refs/pull/40/head")).toEqual([true]);
    // A commit without a branch on an open farm belongs to main's domain.
    expect(await look(sha)).toEqual([false]);
  });

  test("gives main no approximation: its found inputs name no action there", async () => {
    await farm.work();
    const git = (...args: string[]) => farm.repository.git(...args);
    const jobs = `version: 1
jobs:
  scan: {commands: scan, inputs: ["src/**"], outputs: inputs.txt}
  test: {commands: try-it, inputs-from: {job: scan, output: inputs.txt}, may-read: ["src/**"]}
`;
    farm.repository.write({ ".grange/jobs.yml": jobs, "src/a.txt": "a", "src/b.txt": "b" });
    const sha = farm.repository.commit("a finder");
    git("update-ref", "refs/pull/50/head", sha);
    const work = async () => {
      const scripts = await farm.work((script) =>
        script.includes("scan") ? { outputs: { "inputs.txt": "src/a.txt" } } : {},
      );
      return scripts.map((script) => /(scan|try-it)\n$/.exec(script)?.[1]);
    };
    const domainsOf = (kind: string) =>
      db.many(
        z.object({ domain: z.string() }),
        sql`select distinct domain from approximation where kind = ${kind} order by domain`,
      );

    await fromForge("refs/pull/50/head", sha);
    expect(await work()).toEqual(["scan", "try-it"]);
    expect(await domainsOf("over")).toEqual([{ domain: `pr/50@${repository}` }]);
    expect(await domainsOf("weak")).toEqual([{ domain: `pr/50@${repository}` }]);

    await farm.submit({ rev: "main" });
    expect(await work()).toEqual(["scan", "try-it"]);

    git("update-ref", "refs/pull/51/head", sha);
    await fromForge("refs/pull/51/head", sha);
    expect(await work()).toEqual([]);
  });
});
