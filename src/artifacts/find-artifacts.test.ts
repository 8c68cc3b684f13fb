import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serveRepositories } from "#git/http-backend.fixture.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { parseSuite } from "#suites/read-suite.ts";
import { smallDefinition, smallSuite } from "#suites/suite.fixture.ts";
import { findArtifacts } from "./find-artifacts.ts";
import { testRegistry } from "./registry.fixture.ts";

function suiteFrom(artifacts: unknown) {
  const backends = { js: { tool: ["{artifact}/c"] }, native: { tool: ["{artifact}/c"] } };
  const { compile: _, ...definition } = smallDefinition();
  const metrics = { speed: { take: { from: "wall-time" }, nature: "noisy", unit: "seconds" } };
  return parseSuite({ ...definition, artifacts, backends, metrics, headline: "speed" }, "test");
}

function repositoryForTest() {
  const repository = testRepository();
  onTestFinished(() => rm(repository.path, { recursive: true }));
  return repository;
}

test("packages of npm become days, releases and tries", async () => {
  await testRegistry([
    { package: "compiler", version: "5.9.3" },
    { package: "compiler", version: "5.9.0-dev.20260601" },
    { package: "@compiler/new", version: "7.0.0-dev.20260601.1" },
    { package: "@compiler/old", version: "7.0.0-beta" },
    { package: "slow", version: "1.0.0" },
  ]);

  const found = await findArtifacts(smallSuite());

  expect(found.artifacts.map(({ tag, components }) => [tag, Object.keys(components)])).toEqual([
    ["nightly-20260601", ["js", "native"]],
    ["1.0.0", ["slow"]],
    ["5.9.3", ["js"]],
  ]);
  expect(found.resolve("7.0.0-beta").kind).toBe("try");
});

test("a repository's commits are the line, in an order that their dates have too; its tags are releases", async () => {
  const repository = repositoryForTest();
  const commits = ["one", "two", "three"].map((subject, index) => {
    const sha = repository.commit(subject);
    if (index === 1) repository.git("tag", "-a", "v1.0", "-m", "first");
    return sha;
  });
  repository.git("tag", "other");
  const suite = suiteFrom({
    from: "git",
    repository: repository.path,
    release: { tags: "^v\\d" },
  });

  const found = await findArtifacts(suite);

  const [one = "", two = "", three = ""] = commits;
  expect(
    found.artifacts.map(({ tag, kind, parent, commit }) => [tag, kind, parent, commit]),
  ).toEqual([
    [one.slice(0, 12), "master", null, one],
    [two.slice(0, 12), "master", one.slice(0, 12), two],
    [three.slice(0, 12), "master", two.slice(0, 12), three],
    ["v1.0", "release", null, two],
  ]);
  const dates = found.artifacts.slice(0, 3).map(({ datedAt }) => datedAt.getTime());
  expect(dates).toEqual([...new Set(dates)].toSorted((a, b) => a - b));
  expect(found.artifacts[0]?.components).toEqual({
    js: { kind: "git", repository: repository.path, commit: one },
    native: { kind: "git", repository: repository.path, commit: one },
  });
  expect(found.resolve(one.slice(0, 8)).tag).toBe(one.slice(0, 12));
  expect(found.resolve("f".repeat(40))).toMatchObject({
    tag: "f".repeat(12),
    kind: "try",
    parent: three.slice(0, 12),
  });
  expect(() => found.resolve("v1.1")).toThrow("or a release: v1.0");
});

test.each([
  {
    what: "a branch",
    artifacts: (repository: string) => ({ from: "git", repository, branch: "none" }),
    says: "has no branch none",
  },
  {
    what: "a repository",
    artifacts: (repository: string) => ({ from: "git", repository: `${repository}/none` }),
    says: "there is no Git repository",
  },
  {
    what: "a program for a repository",
    artifacts: () => ({ from: "git", repository: "ext::sh -c id" }),
    says: "helpers of that kind run programs",
  },
  {
    what: "an option for a repository",
    artifacts: () => ({ from: "git", repository: "--upload-pack=id" }),
    says: "begins with a dash",
  },
])("$what that is none is told", async ({ artifacts, says }) => {
  const repository = repositoryForTest();
  repository.commit("one");

  await expect(findArtifacts(suiteFrom(artifacts(repository.path)))).rejects.toThrow(says);
});

test("behind a URL it is the same", async () => {
  const repository = repositoryForTest();
  const server = await serveRepositories(dirname(repository.path));
  onTestFinished(() => server.stop());
  repository.commit("one");
  repository.git("tag", "v1");
  repository.commit("two");
  const from = (address: string) =>
    findArtifacts(suiteFrom({ from: "git", repository: address, release: { tags: "^v" } }));

  const [here, there] = [await from(repository.path), await from(server.urlOf(repository.path))];

  const told = ({ artifacts }: typeof here) =>
    artifacts.map(({ tag, datedAt, parent, commit }) => ({ tag, datedAt, parent, commit }));
  expect(told(there)).toEqual(told(here));
  expect(told(there)).toHaveLength(3);
});

test("from nowhere come no artifacts", async () => {
  const found = await findArtifacts(suiteFrom({ from: "nowhere" }));

  expect(found.artifacts).toEqual([]);
  expect(() => found.resolve("1.0.0")).toThrow("give tarballs for 1.0.0");
});
