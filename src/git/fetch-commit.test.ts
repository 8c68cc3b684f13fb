import { chownSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { root as asRoot } from "../../test/support/needs/machine-needs.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { type Mirrors, openMirrors } from "./fetch-commit.ts";
import { serveRepositories } from "./http-backend.fixture.ts";
import { runPlainGit, testRepository } from "./repository.fixture.ts";
import { openGit } from "./run-git.ts";

const root = mkdtempSync(join(tmpdir(), "grange-mirror-"));
const git = await openGit(join(root, "git"));
const server = await serveRepositories(root);
afterAll(async () => {
  await server.stop();
  await git.stop();
  await rm(root, { recursive: true });
});

const openFresh = (): Mirrors =>
  openMirrors({ git, directory: mkdtempSync(join(root, "mirrors-")), workingDirectory: root });

/** main: one ← two ← three; an annotated tag on two; a branch; a pull request; an orphan. */
const repository = testRepository(root);
repository.write({ "a.txt": "1" });
const one = repository.commit("The first\n\nand a body");
repository.write({ "a.txt": "2" });
const two = repository.commit("The second");
repository.git("tag", "--annotate", "--message=x", "v1.0", two);
repository.git("branch", "release/1", two);
const three = repository.commit("The third");
repository.git("checkout", "--quiet", "-b", "topic");
const four = repository.commit("A proposal");
repository.git("update-ref", "refs/pull/7/head", four);
repository.git("checkout", "--quiet", "main");
repository.git("branch", "--quiet", "-D", "topic");
const orphan = repository.git("commit-tree", "-m", "an orphan", `${one}^{tree}`);

const asPath = repository.path;
const asFile = `file://${repository.path}`;
const asUrl = server.urlOf(repository.path);

describe.each([
  ["a path", asPath],
  ["a file URL", asFile],
  ["an HTTP URL", asUrl],
])("in a repository that is %s", (_, address) => {
  test.each<[string, string, string | undefined]>([
    ["HEAD", three, "main"],
    ["main", three, "main"],
    ["refs/heads/main", three, "main"],
    ["release/1", two, "release/1"],
    ["v1.0", two, undefined],
    ["refs/tags/v1.0", two, undefined],
    ["refs/pull/7/head", four, undefined],
    ["pull/7/head", four, undefined],
    [three, three, undefined],
    [orphan, orphan, undefined],
    [two.slice(0, 9), two, undefined],
    ["main~2", one, undefined],
    ["v1.0^", one, undefined],
    [`${three}~1`, two, undefined],
  ])("%s is found", async (revision, sha, branch) => {
    const commit = await openFresh().fetchCommit(address, revision);

    expect([commit.sha, commit.branch]).toEqual([sha, branch]);
  });

  test.each([
    ["HEAD", "refs/heads/main"],
    ["main", "refs/heads/main"],
    ["main~2", "refs/heads/main"],
    ["v1.0^", "refs/tags/v1.0"],
    ["pull/7/head", "refs/pull/7/head"],
    ["refs/pull/7/head~1", "refs/pull/7/head"],
    [three, undefined],
    [`${three}~1`, undefined],
    [two.slice(0, 9), undefined],
  ])("%s is found by its ref, or by none", async (revision, ref) => {
    expect((await openFresh().fetchCommit(address, revision)).ref).toBe(ref);
  });

  test("a fetched commit has its own subject, author and time", async () => {
    const commit = await openFresh().fetchCommit(address, two);

    expect(commit).toMatchObject({
      parents: [one],
      subject: "The second",
      author: { name: "Ada", email: "ada@example.org" },
      committedAt: new Date("2024-05-06T07:08:09Z"),
      repository: address === asFile ? asPath : address,
    });
  });

  test("an unknown revision is reported with similar names", async () => {
    const mirrors = openFresh();

    await expect(mirrors.fetchCommit(address, "mian")).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining("did you mean main?"),
    });
    await expect(mirrors.fetchCommit(address, "0".repeat(40))).rejects.toThrow("no revision");
    await expect(mirrors.fetchCommit(address, "main~99")).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("a second fetch finds new commits", async () => {
    const moving = testRepository(root);
    const before = moving.commit("before");
    const where = address === asUrl ? server.urlOf(moving.path) : moving.path;
    const mirrors = openFresh();
    await mirrors.fetchCommit(where, "main");

    const after = moving.commit("after");
    expect((await mirrors.fetchCommit(where, "main")).sha).toBe(after);

    moving.git("reset", "--quiet", "--hard", before);
    const forced = moving.commit("another");
    expect((await mirrors.fetchCommit(where, "main")).sha).toBe(forced);
  });

  test("an empty repository has no commits yet", async () => {
    const empty = testRepository(root);
    const where = address === asUrl ? server.urlOf(empty.path) : empty.path;

    await expect(openFresh().fetchCommit(where, "HEAD")).rejects.toMatchObject({
      code: "failed_precondition",
      message: expect.stringContaining("no commits yet"),
    });
  });
});

test("a directory in a checkout means its repository", async () => {
  repository.write({ "deep/er/x": "" });

  expect((await openFresh().fetchCommit(join(asPath, "deep/er"), "HEAD")).sha).toBe(three);
});

test("HEAD of a worktree is the worktree's own HEAD", async () => {
  const worktree = join(root, "worktree");
  repository.git("worktree", "add", "--quiet", "-b", "beside", worktree, one);

  const commit = await openFresh().fetchCommit(worktree, "HEAD");

  expect([commit.sha, commit.branch]).toEqual([one, "beside"]);
});

test("a shallow clone provides the commits that it has", async () => {
  const shallow = join(root, "shallow");
  runPlainGit(root, "clone", "--quiet", "--depth=1", asFile, shallow);

  const commit = await openFresh().fetchCommit(shallow, "HEAD");

  expect([commit.sha, commit.parents]).toEqual([three, []]);
});

test("Git trusts the repositories that a call names, and no others", needs(asRoot), async () => {
  const [named, other] = [testRepository(root), testRepository(root)];
  const sha = named.commit("named");
  other.commit("other");
  for (const { path } of [named, other]) {
    chownSync(path, 12_345, 12_345);
    chownSync(join(path, ".git"), 12_345, 12_345);
  }
  const read = (...args: string[]) =>
    git.run([...args, "rev-parse", "HEAD"], { directory: named.path });

  const allowed = await read();
  const refused = await read("-C", other.path);

  expect(allowed.stdout.toString().trim()).toBe(sha);
  expect(refused.exitCode).toBe(128);
  expect(refused.stderr).toContain("dubious ownership");
});

test("a repository of another user works", needs(asRoot), async () => {
  const theirs = testRepository(root);
  const sha = theirs.commit("theirs");
  chownSync(theirs.path, 12_345, 12_345);
  chownSync(join(theirs.path, ".git"), 12_345, 12_345);

  expect((await openFresh().fetchCommit(theirs.path, "HEAD")).sha).toBe(sha);
});

test("a directory in a worktree of another user works, too", needs(asRoot), async () => {
  const theirs = testRepository(root);
  theirs.write({ "sub/file": "x" });
  const sha = theirs.commit("theirs");
  const worktree = `${theirs.path}-worktree`;
  theirs.git("worktree", "add", "--quiet", worktree);
  for (const path of [theirs.path, join(theirs.path, ".git"), worktree, join(worktree, ".git")])
    chownSync(path, 12_345, 12_345);

  expect((await openFresh().fetchCommit(join(worktree, "sub"), "HEAD")).sha).toBe(sha);
});

test("an existing commit is not fetched again, and needs no network", async () => {
  const mirrors = openFresh();
  const before = server.requests();
  await mirrors.fetchCommit(asUrl, three);
  expect(server.requests()).toBeGreaterThan(before);

  const after = server.requests();
  await mirrors.fetchCommit(asUrl, three);
  await mirrors.fetchCommit(asUrl, two);

  expect(server.requests()).toBe(after);
});

test("new objects of a local repository are copied without a search for deltas", async () => {
  const local = testRepository(root);
  const lines = Array.from({ length: 500 }, (_, i) => `line ${i} of many\n`).join("");
  local.write({ "one.txt": `${lines}one\n`, "two.txt": `${lines}two\n` });
  local.commit("Two similar files");
  const directory = mkdtempSync(join(root, "mirrors-"));
  await openMirrors({ git, directory, workingDirectory: root }).fetchCommit(local.path, "HEAD");

  const [mirror = ""] = readdirSync(directory);
  const format = "--batch-check=%(deltabase)";
  const bases = runPlainGit(join(directory, mirror), "cat-file", "--batch-all-objects", format);
  // A commit, a tree and two files.
  expect(bases.split("\n")).toEqual(Array(4).fill("0".repeat(40)));
});

test("several processes can fetch into one mirror at once", async () => {
  const directory = mkdtempSync(join(root, "mirrors-"));
  const each = Array.from({ length: 4 }, () =>
    openMirrors({ git, directory, workingDirectory: root }),
  );
  const revisions = ["main", "v1.0", "refs/pull/7/head", orphan];

  const found = await Promise.all(
    each.flatMap((mirrors) => revisions.map((revision) => mirrors.fetchCommit(asPath, revision))),
  );

  expect(found.map(({ sha }) => sha)).toEqual(
    Array.from({ length: 4 }, () => [three, two, four, orphan]).flat(),
  );
});

test.each([
  ["a directory without repository", () => mkdtempSync(join(root, "plain-")), "git init"],
  ["a path that is not there", () => join(root, "nowhere"), "does not exist"],
  ["a file", () => fileIn(root), "is not a directory"],
  ["a URL without repository", () => server.urlOf(join(root, "nowhere")), "no Git repository"],
  ["a host that does not answer", () => "http://127.0.0.1:1/a", "cannot be reached"],
])("%s is said to be that", async (_, address, message) => {
  await expect(openFresh().fetchCommit(address(), "HEAD")).rejects.toMatchObject({
    name: "Fault",
    message: expect.stringContaining(message),
  });
});

test.each([
  "",
  "-x",
  "--upload-pack=touch x",
  "a b",
  "a:b",
  "a..b",
  "a\0",
  "a\nb",
  "*",
  "x".repeat(2_000),
])("%#: what cannot be a revision is refused", async (revision) => {
  await expect(openFresh().fetchCommit(asPath, revision)).rejects.toMatchObject({
    code: "invalid_argument",
  });
});

test("programs in a repository's own configuration are not run", async () => {
  const hostile = testRepository(root);
  const sha = hostile.commit("x");
  const trap = join(root, "trap");
  hostile.git("config", "core.fsmonitor", `touch ${trap}`);
  hostile.git("config", "core.sshCommand", `touch ${trap}`);
  hostile.git("config", "uploadpack.packObjectsHook", `touch ${trap}`);
  hostile.git("config", "core.pager", `touch ${trap}`);

  expect((await openFresh().fetchCommit(hostile.path, "HEAD")).sha).toBe(sha);
  await expect(rm(trap)).rejects.toThrow("ENOENT");
});

test("a password in a URL does not appear in the message", async () => {
  const failing = openFresh().fetchCommit("http://me:secret@127.0.0.1:1/a", "HEAD");

  await expect(failing).rejects.toMatchObject({
    message: expect.not.stringContaining("secret"),
  });
});

test("a mirror whose files a power failure has emptied is made again", async () => {
  const directory = mkdtempSync(join(root, "mirrors-"));
  const opened = openMirrors({ git, directory, workingDirectory: root });
  const { mirror } = await opened.fetchCommit(asPath, one);
  const lose = () => {
    for (const name of ["HEAD", "config"]) writeFileSync(join(mirror, name), "");
  };

  lose();
  // The server that had it open notices with its first failure.
  await expect(opened.fetchCommit(asPath, two)).rejects.toThrow("no Git repository");
  expect((await opened.fetchCommit(asPath, two)).sha).toBe(two);
  lose();
  const again = openMirrors({ git, directory, workingDirectory: root });
  expect((await again.fetchCommit(asPath, one)).sha).toBe(one);
});

test("a fetch can be cancelled", async () => {
  const cancelled = AbortSignal.abort(new Error("enough"));

  await expect(openFresh().fetchCommit(asPath, "main", cancelled)).rejects.toThrow("enough");
});

function fileIn(directory: string): string {
  const path = join(directory, "a-file");
  writeFileSync(path, "");
  return path;
}

test("fetches with the password of an address, which no command line shows", async () => {
  const root = mkdtempSync(join(tmpdir(), "grange-login-"));
  const login = await serveRepositories(root);
  try {
    const guarded = testRepository(root);
    guarded.write({ "a.txt": "1" });
    const commit = guarded.commit("Behind a login");
    login.requireLogin("robot", "s3cret@word");
    const address = login.urlOf(guarded.path).replace("http://", "http://robot:s3cret%40word@");
    const mirrors = openMirrors({
      git,
      directory: join(root, "mirrors"),
      workingDirectory: root,
    });

    expect((await mirrors.fetchCommit(address, "HEAD")).sha).toBe(commit);
    expect(login.commandLinesSeen().some((line) => line.includes("git"))).toBe(true);
    expect(login.commandLinesSeen().filter((line) => /s3cret/.test(line))).toEqual([]);
  } finally {
    await login.stop();
    await rm(root, { recursive: true });
  }
});
