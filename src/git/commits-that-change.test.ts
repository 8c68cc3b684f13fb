import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommitSha } from "#core/commit-sha.ts";
import { changedPath, commitsThatChange } from "./commits-that-change.ts";
import { testRepository } from "./repository.fixture.ts";
import { type Git, openGit } from "./run-git.ts";

const root = await mkdtemp(join(tmpdir(), "grange-changes-"));
const repository = testRepository(root);
let git: Git;
beforeAll(async () => {
  git = await openGit(root);
});
afterAll(async () => {
  await git.stop();
  await rm(root, { recursive: true });
});

const evil = `--output=${join(tmpdir(), `grange-evil-${process.pid}`)}`;
const commit = (files: Readonly<Record<string, string>>, message: string) => {
  repository.write(files);
  return CommitSha.parse(repository.commit(message));
};
const first = commit({ "src/a.txt": "1", "b.txt": "1", "*": "1" }, "first");
const inDirectory = commit({ "src/a.txt": "2" }, "in a directory");
const elsewhere = commit({ "b.txt": "2" }, "elsewhere");
const hostile = commit({ [evil]: "1" }, "a file like an option");
const absent = CommitSha.parse("0".repeat(40));
const commits = [absent, hostile, elsewhere, inDirectory, first];

const changing = (path: string) =>
  commitsThatChange(git, { mirror: repository.path, commits, path, timeoutMs: 30_000 });

test.each([
  { path: "src", expected: [inDirectory, first] },
  { path: "src/a.txt", expected: [inDirectory, first] },
  { path: "b.txt", expected: [elsewhere, first] },
  { path: "absent", expected: [] },
  // Not a pattern that matches all paths.
  { path: "*", expected: [first] },
  { path: ":(exclude)src", expected: [] },
])("commits that change $path", async ({ path, expected }) => {
  expect([...(await changing(path))]).toEqual(expected);
});

test("a path like an option is a path", async () => {
  expect([...(await changing(evil))]).toEqual([hostile]);
  expect(existsSync(evil.slice("--output=".length))).toBe(false);
});

test.each([
  ["src/", "src"],
  ["./src/a.txt", "src/a.txt"],
  ["/src", "src"],
  ["a b", "a b"],
])("%j means %j", (written, path) => {
  expect(changedPath(written)).toBe(path);
});

test.each(["", "/", "../x", "a/../b", "a//b", "a\\b", "a\0b", "x".repeat(3_000)])(
  "%j is refused",
  (written) => {
    expect(() => changedPath(written)).toThrow("write it from the root of the repository");
  },
);
