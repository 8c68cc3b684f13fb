import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { repositoryChecks } from "./repository.ts";
import { runChecks } from "./run-checks.ts";

async function findings(directory: string) {
  const found = new Map<string, { status: string; fix: string | null }>();
  const groups = [{ name: "Repository", checks: repositoryChecks(directory) }];
  for await (const { name, status, fix } of runChecks(groups)) found.set(name, { status, fix });
  return found;
}

test.each([
  { what: "no definitions", files: { a: "" }, status: "warn", fix: /grange init/ },
  {
    what: "wrong definitions",
    files: { ".grange/farm.yml": "version: 1\njobs: { a: { comands: x } }\n" },
    status: "fail",
    fix: /grange submit/,
  },
])("a commit with $what is found", async ({ files, status, fix }) => {
  const repository = await sampleRepository({ ...files });
  onTestFinished(() => repository.remove());

  const found = await findings(repository.path);

  expect(found.get("definitions")).toEqual({ status, fix: expect.stringMatching(fix) });
  expect(found.get("commit")).toEqual({ status: "ok", fix: null });
});

test("a repository without a commit is found", async () => {
  const directory = await mkdtemp(join(tmpdir(), "grange-doctor-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  execFileSync("git", ["init", "--quiet", directory]);

  const found = await findings(directory);

  expect(found.get("commit")).toMatchObject({
    status: "warn",
    fix: expect.stringContaining("git commit"),
  });
});
