import { expect, test } from "vitest";
import { branchOfCi } from "./branch-of-ci.ts";

const github = { GITHUB_REPOSITORY: "Team/web" };
const gitlab = { CI_PROJECT_PATH: "company/team/web" };
const buildkite = { BUILDKITE_REPO: "git@example.org:team/web.git" };

test.each<[string, Record<string, string>, string]>([
  ["no variables", {}, ""],
  ["a push at GitHub", { ...github, GITHUB_REF: "refs/heads/feature/x" }, "feature/x"],
  ["a pull request at GitHub", { ...github, GITHUB_REF: "refs/pull/12/merge" }, "pull/12"],
  ["a tag at GitHub", { ...github, GITHUB_REF: "refs/tags/v1" }, ""],
  ["a branch at GitLab", { ...gitlab, CI_COMMIT_BRANCH: "main" }, "main"],
  ["a merge request at GitLab", { ...gitlab, CI_MERGE_REQUEST_IID: "7" }, "pull/7"],
  [
    "a branch at Buildkite",
    { ...buildkite, BUILDKITE_BRANCH: "main", BUILDKITE_PULL_REQUEST: "false" },
    "main",
  ],
  [
    "a pull request whose branch is called like ours",
    { ...buildkite, BUILDKITE_BRANCH: "main", BUILDKITE_PULL_REQUEST: "9" },
    "pull/9",
  ],
  [
    "a change in Jenkins",
    { GIT_URL: "https://example.org/team/web.git", BRANCH_NAME: "PR-3", CHANGE_ID: "3" },
    "pull/3",
  ],
  [
    "another repository than the one that the CI was started for",
    { GITHUB_REPOSITORY: "team/tools", GITHUB_REF: "refs/heads/main" },
    "",
  ],
])("of a detached HEAD: %s", (_, variables, expected) => {
  expect(branchOfCi(variables, "team/web")).toBe(expected);
});
