import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runPlainGit, type TestRepository, testRepository } from "#git/repository.fixture.ts";
import { type Git, openGit } from "#git/run-git.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { changedPathsSince } from "./changed-paths.ts";
import { readWorkspace } from "./read-workspace.ts";
import type { GitWorkspace } from "./workspace.ts";

let root: string;
let git: Git;
let repository: TestRepository;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "grange-workspace-")));
  git = await openGit(join(root, "config"));
});
afterAll(async () => {
  await git.stop();
  await removeTree(root);
});
beforeEach(() => {
  repository = testRepository(root);
});

async function read(directory = repository.path): Promise<GitWorkspace> {
  const workspace = await readWorkspace(git, directory);
  if (workspace.kind !== "git") throw new Error(workspace.message);
  return workspace;
}

test("reads commit, tree, branch and first parents of a clean tree, also from a subdirectory or through a link", async () => {
  repository.write({ "src/deep/a.c": "a" });
  const first = repository.commit("one");
  const second = repository.commit("two");
  symlinkSync(join(repository.path, "src"), join(root, `link-${basename(repository.path)}`));

  const workspace = await read(join(root, `link-${basename(repository.path)}`, "deep"));

  expect(workspace).toEqual({
    kind: "git",
    root: repository.path,
    commit: second,
    tree: repository.git("rev-parse", "HEAD^{tree}"),
    branch: "main",
    parents: [first],
    dirty: false,
    dirtyPaths: [],
    dirtyPathsCut: false,
    repository: basename(repository.path),
  });
});

test("reads only first parents of a merge, at most 63", async () => {
  for (let at = 0; at < 66; at++) repository.commit(`${at}`);
  repository.git("checkout", "--quiet", "-b", "side", "HEAD~1");
  const side = repository.commit("side");
  repository.git("checkout", "--quiet", "main");
  const before = repository.git("rev-parse", "HEAD");
  repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "side");

  const { parents } = await read();

  expect(parents).toHaveLength(63);
  expect(parents[0]).toBe(before);
  expect(parents).not.toContain(side);
});

describe("dirty", () => {
  beforeEach(() => {
    repository.write({ "a.c": "a", "b c.c": "b", "gone.c": "g", ".gitignore": "*.o\nout/\n" });
    repository.commit("one");
  });

  test("is a tree with tracked changes, staged or not, or with untracked files that are not ignored", async () => {
    repository.write({ "b c.c": "changed", "new/x.c": "x", "staged.c": "s" });
    repository.git("add", "staged.c");
    repository.git("rm", "--quiet", "gone.c");

    const { dirty, dirtyPaths } = await read();

    expect(dirty).toBe(true);
    expect([...dirtyPaths].sort()).toEqual(["b c.c", "gone.c", "new/", "staged.c"]);
  });

  test("has all paths of the root, also when it is read in a subdirectory", async () => {
    repository.write({ "sub/a.c": "a" });
    repository.commit("a directory");
    repository.write({ "b c.c": "changed", "sub/new/x.c": "x", "other/y.c": "y" });
    const { root: top, dirtyPaths } = await read(join(repository.path, "sub"));
    expect(top).toBe(repository.path);
    expect([...dirtyPaths].sort()).toEqual(["b c.c", "other/", "sub/new/"]);
  });

  test("is not a tree with only ignored files, whatever the repository's settings", async () => {
    repository.write({ "a.o": "o", "out/x": "x" });
    expect((await read()).dirty).toBe(false);

    repository.git("config", "status.showUntrackedFiles", "no");
    repository.write({ "new.c": "n" });
    expect((await read()).dirtyPaths).toEqual(["new.c"]);
  });

  test("lists ten thousand paths, and then reports the list as cut", async () => {
    for (let at = 0; at < 10_100; at++) writeFileSync(join(repository.path, `f${at}`), "");

    const { dirty, dirtyPaths, dirtyPathsCut } = await read();

    expect(dirty).toBe(true);
    expect(dirtyPaths).toHaveLength(10_000);
    expect(dirtyPathsCut).toBe(true);
  });

  test("lists a name with a line break, and a file with a merge conflict", async () => {
    repository.write({ "line\nbreak": "x" });
    repository.git("checkout", "--quiet", "-b", "side");
    repository.write({ "a.c": "theirs" });
    repository.commit("theirs");
    repository.git("checkout", "--quiet", "main");
    repository.write({ "a.c": "ours", "line\nbreak": "y" });
    repository.commit("ours");
    expect(() => repository.git("merge", "--quiet", "side")).toThrow("merge");

    expect([...(await read()).dirtyPaths].sort()).toEqual(["a.c", "line\nbreak"]);
  });
});

test("a detached HEAD has no branch", async () => {
  const first = repository.commit("one");
  repository.commit("two");
  repository.git("checkout", "--quiet", "--detach", first);

  expect(await read()).toMatchObject({ commit: first, branch: "", parents: [] });
});

test("a shallow clone has the parents that it contains", async () => {
  for (let at = 0; at < 5; at++) repository.commit(`${at}`);
  runPlainGit(
    root,
    "clone",
    "--quiet",
    "--depth=2",
    `file://${repository.path}`,
    `${repository.path}-shallow`,
  );

  const { parents } = await read(`${repository.path}-shallow`);

  expect(parents).toHaveLength(1);
});

test("a worktree is a separate tree of the same repository", async () => {
  const first = repository.commit("one");
  repository.git("worktree", "add", "--quiet", "-b", "other", `${repository.path}-tree`);

  expect(await read(`${repository.path}-tree`)).toMatchObject({
    root: `${repository.path}-tree`,
    commit: first,
    branch: "other",
    repository: basename(repository.path),
  });
});

describe("a nested repository", () => {
  let inner: TestRepository;
  beforeEach(() => {
    inner = testRepository(root);
    inner.write({ "i.c": "i" });
    inner.commit("inner");
  });

  test("as a submodule, is its own workspace; its changes make the outer one dirty", async () => {
    repository.git(
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      inner.path,
      "sub",
    );
    repository.commit("with a submodule");
    const sub = join(repository.path, "sub");
    expect(await read(sub)).toMatchObject({ root: sub, commit: inner.git("rev-parse", "HEAD") });
    expect((await read()).dirty).toBe(false);

    writeFileSync(join(sub, "i.c"), "changed");

    expect((await read()).dirtyPaths).toEqual(["sub"]);
    expect((await read(sub)).dirtyPaths).toEqual(["i.c"]);
  });

  test("that the outer one does not track makes it dirty", async () => {
    repository.commit("one");
    runPlainGit(root, "clone", "--quiet", inner.path, join(repository.path, "vendor"));

    expect((await read()).dirtyPaths).toEqual(["vendor/"]);
    expect((await read(join(repository.path, "vendor"))).root).toBe(
      join(repository.path, "vendor"),
    );
  });
});

test("a nested repository that the outer one ignores counts as ignored", async () => {
  repository.write({ ".gitignore": "/vendor/\n" });
  const commit = repository.commit("one");
  const inner = testRepository(root);
  inner.commit("inner");
  runPlainGit(root, "clone", "--quiet", inner.path, join(repository.path, "vendor"));
  writeFileSync(join(repository.path, "vendor", "new.c"), "new");

  expect(await read()).toMatchObject({ commit, dirty: false });
  expect((await read(join(repository.path, "vendor"))).dirtyPaths).toEqual(["new.c"]);
});

describe("without a commit the build continues without a workspace", () => {
  test("outside of a repository, and in a missing directory", async () => {
    const directory = mkdtempSync(join(root, "plain-"));

    expect(await readWorkspace(git, directory)).toMatchObject({
      kind: "plain",
      why: "no-repository",
      root: directory,
    });
    expect(await readWorkspace(git, join(directory, "absent"))).toMatchObject({ kind: "plain" });
  });

  test("in a bare repository, and inside .git", async () => {
    repository.commit("one");
    runPlainGit(root, "clone", "--quiet", "--bare", repository.path, `${repository.path}.git`);

    expect(await readWorkspace(git, `${repository.path}.git`)).toMatchObject({
      why: "no-repository",
    });
    expect(await readWorkspace(git, join(repository.path, ".git"))).toMatchObject({
      why: "no-repository",
    });
  });

  test("before the first commit", async () => {
    mkdirSync(join(repository.path, "src"));

    expect(await readWorkspace(git, join(repository.path, "src"))).toMatchObject({
      kind: "plain",
      why: "no-commit",
      root: repository.path,
    });
  });

  test("without Git", async () => {
    vi.stubEnv("PATH", root);
    const absent = await openGit(join(root, "config")).finally(() => vi.unstubAllEnvs());

    expect(await readWorkspace(absent, repository.path)).toMatchObject({ why: "no-git" });
  });

  test("with a broken repository, or after a timeout", async () => {
    repository.commit("one");
    const gone = await readWorkspace(git, repository.path, AbortSignal.abort());
    expect(gone).toMatchObject({ kind: "plain", why: "trouble" });

    writeFileSync(join(repository.path, ".git", "config"), "[broken");
    expect(await readWorkspace(git, repository.path)).toMatchObject({ kind: "plain" });
  });
});

test("the name of a remote never contains a password", async () => {
  repository.commit("one");
  repository.git("remote", "add", "other", "https://x:secret@example.org/a/other.git");
  expect((await read()).repository).toBe("a/other");

  repository.git("remote", "add", "origin", "ssh://git@example.org:22/team/web.git/");
  expect((await read()).repository).toBe("team/web");
});

describe("the changed paths since a commit", () => {
  test("are those that commits changed and those that the tree has changed", async () => {
    repository.write({ "a.c": "a", "b.c": "b", "old.c": "some text that moves" });
    const first = repository.commit("one");
    repository.write({ "a.c": "changed" });
    repository.git("mv", "old.c", "new.c");
    repository.commit("two");
    repository.write({ "b.c": "changed", "dir/x": "x" });

    const changed = await changedPathsSince(git, await read(), first);

    expect([...(changed ?? [])].sort()).toEqual(["a.c", "b.c", "dir/", "new.c", "old.c"]);
    expect(await changedPathsSince(git, await read(), repository.git("rev-parse", "HEAD"))).toEqual(
      ["b.c", "dir/"],
    );
  });

  test("are unknown for an absent or invalid commit, and when not all changes are known", async () => {
    repository.commit("one");
    const workspace = await read();

    expect(await changedPathsSince(git, workspace, "1".repeat(40))).toBeUndefined();
    expect(
      await changedPathsSince(git, workspace, `--output=${join(root, "written")}`),
    ).toBeUndefined();
    const cut = { ...workspace, dirtyPathsCut: true };
    expect(await changedPathsSince(git, cut, workspace.commit)).toBeUndefined();
  });
});
