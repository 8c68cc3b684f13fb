import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { readObjects } from "./read-objects.ts";
import { runPlainGit, testRepository } from "./repository.fixture.ts";
import { openGit } from "./run-git.ts";

const root = mkdtempSync(join(tmpdir(), "grange-run-git-"));
const git = await openGit(join(root, "git"));
afterAll(async () => {
  await git.stop();
  await rm(root, { recursive: true });
});

/**
 * A Git command that never ends, in a separate shell; the shell writes its process ID into a file.
 */
function endless(name: string): { readonly args: string[]; readonly pid: () => number } {
  const file = join(root, name);
  const script = `!echo $$ > ${file}; echo started; exec sleep 1000`;
  return {
    args: ["-c", `alias.endless=${script}`, "endless"],
    pid: () => Number(readFileSync(file, "utf8")),
  };
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

test("a failing command is an answer", async () => {
  const output = await git.run(["rev-parse", "HEAD"], { directory: root });

  expect(output.exitCode).toBe(128);
  expect(output.stderr).toContain("not a git repository");
});

test("a command that takes too long is ended, with all processes that it started", async () => {
  const { args, pid } = endless("slow");

  await expect(git.run(args, { timeoutMs: 1_500 })).rejects.toMatchObject({
    code: "deadline_exceeded",
  });

  await expect.poll(() => isAlive(pid())).toBe(false);
});

test("a command with too much output is ended", async () => {
  const talking = ["-c", "alias.talk=!yes", "talk"];

  await expect(git.run(talking, { maxOutputBytes: 100_000 })).rejects.toMatchObject({
    code: "resource_exhausted",
  });
});

test("a cancelled command is ended", async () => {
  const { args, pid } = endless("cancelled");
  const cancelling = new AbortController();
  const started = git.start(args, { signal: cancelling.signal });
  await new Promise((resolve) => started.stdout.once("data", resolve));

  cancelling.abort();

  await expect(started.ended).rejects.toMatchObject({ code: "cancelled" });
  await expect.poll(() => isAlive(pid())).toBe(false);
});

test("stop leaves no process", async () => {
  const other = await openGit(join(root, "other"));
  const { args, pid } = endless("stopped");
  const started = other.start(args);
  started.ended.catch(() => {});
  await new Promise((resolve) => started.stdout.once("data", resolve));

  await other.stop();
  await other.stop();

  await expect.poll(() => isAlive(pid())).toBe(false);
});

test("variables of this process do not reach Git", async () => {
  const repository = testRepository(root);
  const sha = repository.commit("x");
  vi.stubEnv("GIT_DIR", join(root, "elsewhere"));
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });

  const output = await git.run(["rev-parse", "HEAD"], { directory: repository.path });

  expect(String(output.stdout).trim()).toBe(sha);
});

test("a reader of objects may stop early, and leaves no process", async () => {
  const repository = testRepository(root);
  writeFileSync(join(repository.path, "large"), Buffer.alloc(20_000_000, 1));
  writeFileSync(join(repository.path, "small"), "1");
  repository.commit("x");
  const ids = ["large", "small"].map((name) => repository.git("rev-parse", `HEAD:${name}`));
  const other = await openGit(join(root, "early"));

  for await (const object of readObjects(other, repository.path, ids)) {
    for await (const chunk of object.stream()) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    break;
  }

  await other.stop();
});

test("an object that is not read is skipped", async () => {
  const repository = testRepository(root);
  repository.write({ a: "first", b: "second\n\n" });
  repository.commit("x");
  const ids = ["a", "b"].map((name) => repository.git("rev-parse", `HEAD:${name}`));

  const taken: string[] = [];
  for await (const object of readObjects(git, repository.path, ids)) {
    if (object.gitId === ids[1]) taken.push(String(await object.take()));
  }

  expect(taken).toEqual(["second\n\n"]);
});

test("a missing object is data loss", async () => {
  runPlainGit(root, "init", "--quiet", "--bare", "bare");
  const reading = async () => {
    for await (const _ of readObjects(git, join(root, "bare"), ["1".repeat(40)]));
  };

  await expect(reading()).rejects.toMatchObject({ code: "data_loss" });
});
