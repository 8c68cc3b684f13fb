import { repositoryOfUrl } from "./repository-of-url.ts";

type Variables = Readonly<Record<string, string | undefined>>;

interface Told {
  /** What is built, as its address is named here; undefined where nobody says. */
  readonly repository: string | undefined;
  readonly branch: string | undefined;
  /** The number of a pull request. */
  readonly pull: string | undefined;
}

/**
 * The branch of a checkout whose HEAD is detached, as CI checks out: by the variables of GitHub (Gitea and Forgejo have the
 * same), GitLab, Buildkite and Jenkins. "" where none of them says.
 *
 * What is built of a pull request is the pull request's, `pull/12`: its branch may be called like one of ours, and be a stranger's.
 * It counts only for the repository that the CI was started for, not for others that a job has cloned beside it.
 */
export function branchOfCi(variables: Variables, repository: string): string {
  for (const told of [github, gitlab, buildkite, jenkins].map((of) => of(variables))) {
    if (told.repository?.toLowerCase() !== repository.toLowerCase()) continue;
    if (/^\d{1,18}$/.test(told.pull ?? "")) return `pull/${told.pull}`;
    if (told.branch) return told.branch;
  }
  return "";
}

function github({ GITHUB_REPOSITORY, GITHUB_REF = "" }: Variables): Told {
  return {
    repository: named(GITHUB_REPOSITORY),
    branch: /^refs\/heads\/(.+)$/.exec(GITHUB_REF)?.[1],
    pull: /^refs\/pull\/(\d+)\//.exec(GITHUB_REF)?.[1],
  };
}

/** Of a group within a group, the last two names count here. */
function named(path: string | undefined): string | undefined {
  return path && repositoryOfUrl(`https://forge/${path}`);
}

/** CI_COMMIT_BRANCH is not there in pipelines of merge requests and of tags. */
function gitlab({ CI_PROJECT_PATH, CI_COMMIT_BRANCH, CI_MERGE_REQUEST_IID }: Variables): Told {
  return {
    repository: named(CI_PROJECT_PATH),
    branch: CI_COMMIT_BRANCH,
    pull: CI_MERGE_REQUEST_IID,
  };
}

/** BUILDKITE_PULL_REQUEST is "false" where there is none. */
function buildkite(variables: Variables): Told {
  const { BUILDKITE_REPO, BUILDKITE_BRANCH, BUILDKITE_PULL_REQUEST } = variables;
  return {
    repository: BUILDKITE_REPO && repositoryOfUrl(BUILDKITE_REPO),
    branch: BUILDKITE_BRANCH,
    pull: BUILDKITE_PULL_REQUEST,
  };
}

function jenkins({ GIT_URL, BRANCH_NAME, CHANGE_ID }: Variables): Told {
  return { repository: GIT_URL && repositoryOfUrl(GIT_URL), branch: BRANCH_NAME, pull: CHANGE_ID };
}
