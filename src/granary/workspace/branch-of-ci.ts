import { repositoryOfUrl } from "./repository-of-url.ts";

type Variables = Readonly<Record<string, string | undefined>>;

interface CiCheckout {
  /**
   * The name of the repository that is built, as this CI system writes it; undefined when unknown.
   */
  readonly repository: string | undefined;
  readonly branch: string | undefined;
  /** The number of a pull request. */
  readonly pull: string | undefined;
}

/**
 * Returns the branch of a checkout with a detached HEAD, as in CI, from the variables of GitHub (also Gitea and
 * Forgejo), GitLab, Buildkite and Jenkins; "" when none is set.
 *
 * A build of a pull request gets `pull/12`: its branch may belong to a stranger and have the same name as one of the
 * repository's own branches. The result applies only to the repository that the CI was started for, not to others that
 * a job has cloned.
 */
export function branchOfCi(variables: Variables, repository: string): string {
  for (const variablesOfCi of [github, gitlab, buildkite, jenkins].map((of) => of(variables))) {
    if (variablesOfCi.repository?.toLowerCase() !== repository.toLowerCase()) continue;
    if (/^\d{1,18}$/.test(variablesOfCi.pull ?? "")) return `pull/${variablesOfCi.pull}`;
    if (variablesOfCi.branch) return variablesOfCi.branch;
  }
  return "";
}

function github({ GITHUB_REPOSITORY, GITHUB_REF = "" }: Variables): CiCheckout {
  return {
    repository: named(GITHUB_REPOSITORY),
    branch: /^refs\/heads\/(.+)$/.exec(GITHUB_REF)?.[1],
    pull: /^refs\/pull\/(\d+)\//.exec(GITHUB_REF)?.[1],
  };
}

/** Returns the name of a repository: for nested groups, the last two names. */
function named(path: string | undefined): string | undefined {
  return path && repositoryOfUrl(`https://forge/${path}`);
}

/** CI_COMMIT_BRANCH is not set in pipelines of merge requests and of tags. */
function gitlab({
  CI_PROJECT_PATH,
  CI_COMMIT_BRANCH,
  CI_MERGE_REQUEST_IID,
}: Variables): CiCheckout {
  return {
    repository: named(CI_PROJECT_PATH),
    branch: CI_COMMIT_BRANCH,
    pull: CI_MERGE_REQUEST_IID,
  };
}

/** BUILDKITE_PULL_REQUEST is "false" when there is none. */
function buildkite(variables: Variables): CiCheckout {
  const { BUILDKITE_REPO, BUILDKITE_BRANCH, BUILDKITE_PULL_REQUEST } = variables;
  return {
    repository: BUILDKITE_REPO && repositoryOfUrl(BUILDKITE_REPO),
    branch: BUILDKITE_BRANCH,
    pull: BUILDKITE_PULL_REQUEST,
  };
}

function jenkins({ GIT_URL, BRANCH_NAME, CHANGE_ID }: Variables): CiCheckout {
  return { repository: GIT_URL && repositoryOfUrl(GIT_URL), branch: BRANCH_NAME, pull: CHANGE_ID };
}
