import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { submitGraph } from "../submit-graph.ts";
import { listBranches, setBranch, showBranch } from "./branches.ts";
import { diffCatalogs } from "./diff-catalogs.ts";
import { farmOfCatalogs } from "./farm-of-catalogs.fixture.ts";
import { previewGraph } from "./preview-graph.ts";
import { pushCatalog } from "./push-catalog.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const everywhere = { repository: "*", branch: "*", priorityCap: null, top: false };

/** Creates a branch whose source is another repository, in which one job is defined. */
async function branchFromElsewhere(branch: string) {
  const other = testRepository();
  other.write({ ".grange/a.yml": "version: 1\njobs: {elsewhere: {commands: x}}\n" });
  const sha = other.commit("Define a job");
  const repository = await farm.nameOfRepository();
  const source = { kind: "repository" as const, repository: other.path, rev: "HEAD" };
  const request = { body: { source }, dryRun: false };
  await setBranch(farm.services, repository, branch, request, everybody);
  return { other, sha, repository };
}

describe("a branch whose definitions come from elsewhere", () => {
  test("shows what its next submission will use, also when another catalog was pushed or used last", async () => {
    const { other, sha, repository } = await branchFromElsewhere("try");
    await pushCatalog(
      farm.services,
      {
        files: { "a.yml": "version: 1\njobs: {pushed: {commands: x}}\n" },
        repository,
        branch: "try",
      },
      everybody,
    );

    const shown = await showBranch(farm.services, repository, "try", everybody);
    const listed = (await listBranches(farm.services, repository, everybody)).find(
      ({ branch }) => branch === "try",
    );
    const { graph } = await farm.submit({ branch: "try" });

    expect(shown.next).toEqual({ catalog: graph.templates, commit: sha, problem: null });
    expect(listed?.next).toEqual(shown.next);
    rmSync(other.path, { recursive: true });
  });

  test("is compared by what its next submission will use", async () => {
    const { other, repository } = await branchFromElsewhere("compared");
    await farm.submit({ branch: "compared" });
    other.write({ ".grange/a.yml": "version: 1\njobs: {later: {commands: x}}\n" });
    other.commit("Define another");

    const diff = await diffCatalogs(farm.services, "main", "compared", repository, everybody);

    expect(diff.jobs.added).toEqual(["later"]);
    expect(diff.b.digest).toBe((await farm.submit({ branch: "compared" })).graph.templates);
    rmSync(other.path, { recursive: true });
  });

  test("shows why they cannot be read", async () => {
    const { other, repository } = await branchFromElsewhere("gone");
    rmSync(other.path, { recursive: true });

    const { next } = await showBranch(farm.services, repository, "gone", everybody);

    expect(next.catalog).toBeNull();
    expect(next.problem).toContain(other.path);
  });
});

test("a branch whose commits contain definitions shows those of its newest commit", async () => {
  const repository = await farm.nameOfRepository();
  farm.repository.write({ ".grange/more.yml": "version: 1\njobs: {newest: {commands: x}}\n" });
  const sha = farm.repository.commit("One job more");

  const { next } = await showBranch(farm.services, repository, "main", everybody);

  expect(next).toEqual({
    catalog: (await farm.submit()).graph.templates,
    commit: sha,
    problem: null,
  });
});

describe("definitions from elsewhere", () => {
  test("are those of another repository at a revision", async () => {
    const other = testRepository();
    other.write({ ".grange/a.yml": "version: 1\njobs: {elsewhere: {commands: x}}\n" });
    const rev = other.commit("Define a job");
    other.write({ ".grange/a.yml": "version: 1\njobs: {later: {commands: x}}\n" });
    other.commit("Define another");

    const { id } = await farm.submit({
      definitionsFrom: { kind: "repository", repository: other.path, rev },
    });

    expect(Object.keys(await farm.states(id))).toEqual(["elsewhere"]);
    rmSync(other.path, { recursive: true });
  });

  test("are those of a directory on the server's machine, read again each time", async () => {
    const path = mkdtempSync(join(tmpdir(), "grange-definitions-"));
    const file = join(path, "a.yml");
    writeFileSync(file, "version: 1\njobs: {local: {commands: x}}\n");
    const from = { definitionsFrom: { kind: "directory" as const, path } };

    const first = await farm.submit(from);
    writeFileSync(file, "version: 1\njobs: {local: {comands: x}}\n");

    expect(Object.keys(await farm.states(first.id))).toEqual(["local"]);
    await expect(farm.submit(from)).rejects.toThrow(`${file}:2:`);
    rmSync(path, { recursive: true });
  });

  test.each([
    { path: "defs", says: "give the whole path" },
    { path: "/nowhere/such", says: "cannot read the definitions in /nowhere/such" },
  ])("$path cannot be read: $says", async ({ path, says }) => {
    const submitting = farm.submit({ definitionsFrom: { kind: "directory", path } });

    await expect(submitting).rejects.toThrow(says);
  });

  test("on the server's machine require a separate right", async () => {
    const submitter = { name: "bob", grants: [{ ...everywhere, verb: "submit" as const }] };
    const from = { definitionsFrom: { kind: "directory" as const, path: "/srv" } };

    await expect(farm.submit(from, submitter)).rejects.toThrow("bob may not define");
  });
});

describe("a commit that points to definitions", () => {
  /**
   * Creates another repository with a job, and a commit of the farm's repository that points to its
   * commit.
   */
  function pointing(pointer?: (other: { path: string; sha: string }) => string) {
    const other = testRepository();
    other.write({ ".grange/a.yml": "version: 1\njobs: {pointed: {commands: x}}\n" });
    const sha = other.commit("Define a job");
    const written = pointer ?? (({ path }) => `repository: ${path}\ncommit: ${sha}\n`);
    rmSync(join(farm.repository.path, ".grange"), { recursive: true });
    farm.repository.write({ ".grange/source": written({ path: other.path, sha }) });
    return { other, sha, rev: farm.repository.commit("Point at definitions") };
  }
  const afterwards = () => {
    rmSync(join(farm.repository.path, ".grange"), { recursive: true });
    farm.repository.write({ ".grange/farm.yml": "version: 1\njobs: {own: {commands: x}}\n" });
    return farm.repository.commit("Have definitions again");
  };

  test("can be tried on one branch, and reaches another one with the merge", async () => {
    const { repository } = farm;
    const jobsOfMain = async () => {
      const { id } = await farm.submit({ rev: "main" });
      return Object.keys(await farm.states(id));
    };
    repository.git("checkout", "--quiet", "-b", "trial");
    const { rev } = pointing();
    repository.git("checkout", "--quiet", "main");

    const tried = await farm.submit({ rev: "trial" });
    const before = await jobsOfMain();
    repository.git("merge", "--quiet", "--ff-only", "trial");
    const after = await jobsOfMain();
    const isMerged = repository.git("rev-parse", "main") === rev;
    afterwards();

    expect(isMerged).toBe(true);
    expect(Object.keys(await farm.states(tried.id))).toEqual(["pointed"]);
    expect(before).not.toContain("pointed");
    expect(after).toEqual(["pointed"]);
  });

  test("uses those of the other commit, whatever follows it there", async () => {
    const { other, sha, rev } = pointing();
    other.write({ ".grange/a.yml": "version: 1\njobs: {later: {commands: x}}\n" });
    other.commit("Define another");

    const { id, graph } = await farm.submit({ rev });
    const repository = graph.repository;
    const { next } = await showBranch(farm.services, repository, "main", everybody);
    const preview = await previewGraph(farm.services, { repository: farm.repository.path, rev });
    const own = await farm.submit({ rev: afterwards() });

    expect(Object.keys(await farm.states(id))).toEqual(["pointed"]);
    expect(next).toEqual({ catalog: graph.templates, commit: sha, problem: null });
    expect(preview.catalog).toBe(graph.templates);
    expect(Object.keys(await farm.states(own.id))).toEqual(["own"]);
    rmSync(other.path, { recursive: true });
  });

  test("has pushed definitions in the order in which the branch used them", async () => {
    const { other, rev } = pointing();

    const { graph } = await farm.submit({ rev, branch: "train" });

    const shown = await showBranch(farm.services, graph.repository, "train", everybody);
    expect(shown.catalog).toMatchObject({ catalog: graph.templates, commit: rev });
    afterwards();
    rmSync(other.path, { recursive: true });
  });

  test("is overridden by the source that the server has for the branch", async () => {
    const { other: held, repository } = await branchFromElsewhere("held");
    const { other, rev } = pointing();

    const { id } = await farm.submit({ rev, branch: "held" });

    expect(Object.keys(await farm.states(id))).toEqual(["elsewhere"]);
    expect(repository).not.toBe("");
    afterwards();
    for (const each of [held, other]) rmSync(each.path, { recursive: true });
  });

  test("requires the right to read the other repository, and is not allowed for forks", async () => {
    const { other, rev } = pointing();
    const { graph } = await farm.submit({ rev });
    const grant = { ...everywhere, repository: graph.repository, verb: "submit" as const };
    const bob = { name: "bob", grants: [grant] };

    await expect(farm.submit({ rev }, bob)).rejects.toThrow(/\.grange\/source.*cannot be followed/);
    await expect(
      submitGraph(farm.submission, { repository: farm.repository.path, rev }, everybody, {
        outsiders: { network: false, platform: {} },
      }),
    ).rejects.toThrow(
      "a pull request from a fork cannot take its definitions from another repository",
    );
    afterwards();
    rmSync(other.path, { recursive: true });
  });

  test.each([
    { about: "a branch", pointer: "repository: /x\ncommit: main\n", says: "source:2:9: commit" },
    { about: "no repository", pointer: "commit: x\n", says: "repository" },
    {
      about: "an unknown key",
      pointer: `repository: /x\ncommit: ${"a".repeat(40)}\nrev: main\n`,
      says: "rev",
    },
    { about: "a password", pointer: "repository: https://a:b@x/y\n", says: "password" },
    { about: "no YAML", pointer: "a: [", says: ".grange/source:1" },
    {
      about: "a repository that is not there",
      pointer: `repository: /nowhere\ncommit: ${"a".repeat(40)}\n`,
      says: "cannot be followed",
    },
  ])("with $about is told what to write: $says", async ({ pointer, says }) => {
    const { other, rev } = pointing(() => pointer);

    await expect(farm.submit({ rev })).rejects.toThrow(says);
    afterwards();
    rmSync(other.path, { recursive: true });
  });

  test("may not also have definitions, nor point to another pointer", async () => {
    const first = pointing();
    farm.repository.write({ ".grange/farm.yml": "version: 1\njobs: {own: {commands: x}}\n" });
    const both = farm.repository.commit("Have both");
    const on = pointing(() => `repository: ${farm.repository.path}\ncommit: ${first.rev}\n`);

    await expect(farm.submit({ rev: both })).rejects.toThrow(
      ".grange/farm.yml exists, too: remove one of them",
    );
    await expect(farm.submit({ rev: on.rev })).rejects.toThrow("only one step is allowed");
    afterwards();
    for (const { other } of [first, on]) rmSync(other.path, { recursive: true });
  });
});
