import { expect, test } from "vitest";
import { sourceOfBuild } from "./source-of-build.ts";

const sha = "0123456789abcdef0123456789abcdef01234567";
const nothing = { metadata: {}, keywords: [], workspaceStatus: {} };

test.each([
  { workspaceStatus: { BUILD_SCM_REVISION: sha } },
  { workspaceStatus: { STABLE_GIT_COMMIT: sha.toUpperCase() } },
  { workspaceStatus: { GIT_COMMIT: `${sha}-dirty` } },
  { metadata: { COMMIT_SHA: ` ${sha}\n` } },
  { keywords: ["command_name=build", `user_keyword=commit=${sha}`] },
  { metadata: { COMMIT_SHA: "none" }, workspaceStatus: { COMMIT_SHA: sha } },
])("finds the commit in %j", (hints) => {
  expect(sourceOfBuild({ ...nothing, ...hints }).commit).toBe(sha);
});

test.each(["", "0", "0000000000000000000000000000000000000000", "main", "abc", "a b"])(
  "takes %j for no commit",
  (text) => {
    expect(sourceOfBuild({ ...nothing, metadata: { COMMIT_SHA: text } }).commit).toBeNull();
  },
);

test("believes what a person gave rather than what a script found", () => {
  const source = sourceOfBuild({
    metadata: { BRANCH_NAME: "refs/heads/fix", USER: "ada" },
    keywords: ["user_keyword=branch=other", "user_keyword=repo=https://git.example/kw"],
    workspaceStatus: {
      GIT_BRANCH: "main",
      REPO_URL: "https://git.example/ws",
      BUILD_USER: "root",
      BUILD_HOST: "ci-1",
    },
  });

  expect(source).toEqual({
    user: "ada",
    host: "ci-1",
    repository: "https://git.example/kw",
    branch: "fix",
    commit: null,
  });
});

test("keeps no password of a repository, and takes no detached HEAD for a branch", () => {
  const source = sourceOfBuild({
    ...nothing,
    workspaceStatus: { BUILD_SCM_REMOTE: "https://ada:pw@git.example/a.git", GIT_BRANCH: "HEAD" },
  });

  expect(source).toMatchObject({ repository: "https://git.example/a.git", branch: null });
});
