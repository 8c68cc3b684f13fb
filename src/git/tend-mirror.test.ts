import { mkdtempSync } from "node:fs";
import { readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openMirror } from "./mirror.ts";
import { testRepository } from "./repository.fixture.ts";
import { openGit } from "./run-git.ts";
import { removeAbandoned, tendMirror } from "./tend-mirror.ts";

const root = mkdtempSync(join(tmpdir(), "grange-tend-"));
const git = await openGit(join(root, "git"));
afterAll(async () => {
  await git.stop();
  await rm(root, { recursive: true });
});

test("many packs are joined, and no commit is lost", async () => {
  const repository = testRepository(root);
  const mirror = await openMirror(git, join(root, "mirrors"), repository.path);
  const commits: string[] = [];
  for (const name of ["a", "b", "c", "d", "e"]) {
    repository.write({ [name]: name });
    commits.push(repository.commit(name));
    await mirror.fetch(repository.path, commits.at(-1) ?? "");
  }
  const packs = async () =>
    (await readdir(join(mirror.path, "objects/pack"))).filter((n) => n.endsWith(".pack")).length;
  expect(await packs()).toBe(5);

  await tendMirror(git, mirror.path, 4);

  expect(await packs()).toBeLessThan(3);
  for (const commit of commits) expect(await mirror.resolve(commit)).toBe(commit);
});

test("files that killed processes left are removed after some time", async () => {
  const mirror = await openMirror(git, join(root, "mirrors"), "/somewhere");
  const left = [
    "shallow.lock",
    "refs/x.lock",
    "objects/pack/tmp_pack_x",
    "objects/pack/.tmp-1-pack",
  ];
  for (const name of left) {
    await writeFile(join(mirror.path, name), "");
    await utimes(join(mirror.path, name), new Date("2001-01-01"), new Date("2001-01-01"));
  }
  await writeFile(join(mirror.path, "young.lock"), "");

  await removeAbandoned(mirror.path, 60_000);

  const names = await readdir(mirror.path, { recursive: true });
  expect(names.filter((name) => left.includes(name))).toEqual([]);
  expect(names).toContain("young.lock");
});
