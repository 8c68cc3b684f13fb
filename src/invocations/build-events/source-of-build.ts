import { withoutPasswords } from "#core/hide-secrets.ts";
import { longest } from "./build-bounds.ts";

export interface SourceOfBuild {
  readonly user: string;
  readonly host: string;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly commit: string | null;
}

/** The hints of a build about its source, in three ways. */
export interface SourceHints {
  /** `--build_metadata=KEY=VALUE`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The values of `--bes_keywords`, as `user_keyword=key=value`. */
  readonly keywords: readonly string[];
  /** The output of `--workspace_status_command`. */
  readonly workspaceStatus: Readonly<Record<string, string>>;
}

/** The usual names of each value; the first match counts. Each name also with `STABLE_` before it. */
const keys = {
  commit: [
    "COMMIT_SHA",
    "GIT_COMMIT",
    "BUILD_SCM_REVISION",
    "SCM_REVISION",
    "COMMIT",
    "GIT_SHA",
    "REVISION",
  ],
  branch: ["BRANCH_NAME", "GIT_BRANCH", "BUILD_SCM_BRANCH", "SCM_BRANCH", "BRANCH"],
  repository: [
    "REPO_URL",
    "BUILD_SCM_REMOTE",
    "GIT_REPOSITORY_URL",
    "GIT_URL",
    "SCM_REMOTE",
    "REPOSITORY",
    "REPO",
  ],
  user: ["USER", "BUILD_USER", "GIT_USER"],
  host: ["HOST", "BUILD_HOST"],
} as const;

/** Manual values take precedence over those of a script. */
export function sourceOfBuild(hints: SourceHints): SourceOfBuild {
  const given = [upper(hints.metadata), keywordsOf(hints.keywords), upper(hints.workspaceStatus)];
  const find = <T>(names: readonly string[], fit: (value: string) => T | undefined) => {
    for (const pairs of given) {
      for (const name of names) {
        const value = pairs.get(name) ?? pairs.get(`STABLE_${name}`);
        const fitting = value === undefined ? undefined : fit(value.trim());
        if (fitting !== undefined) return fitting;
      }
    }
    return null;
  };
  return {
    user: find(keys.user, lineOf) ?? "",
    host: find(keys.host, lineOf) ?? "",
    repository: find(keys.repository, repositoryOf),
    branch: find(keys.branch, branchOf),
    commit: find(keys.commit, commitOf),
  };
}

function upper(pairs: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(Object.entries(pairs).map(([key, value]) => [key.toUpperCase(), value]));
}

function keywordsOf(keywords: readonly string[]): Map<string, string> {
  const pairs = keywords.flatMap((keyword): [string, string][] => {
    const [, key, value] = /^user_keyword=([^=]+)=(.*)$/s.exec(keyword) ?? [];
    return key === undefined || value === undefined ? [] : [[key.toUpperCase(), value]];
  });
  return new Map(pairs);
}

function lineOf(text: string): string | undefined {
  return /^\P{Cc}+$/u.test(text) ? text.slice(0, longest.name) : undefined;
}

/** Scripts append `-dirty` when the tree has changes: the commit is the same. */
function commitOf(text: string): string | undefined {
  const hex = text.toLowerCase().replace(/(-dirty|-modified|\+)$/, "");
  return /^(?=.*[1-9a-f])[0-9a-f]{7,64}$/.test(hex) ? hex : undefined;
}

function branchOf(text: string): string | undefined {
  const name = text.replace(/^refs\/heads\//, "");
  // Git's name for a checkout without a branch.
  return name === "HEAD" ? undefined : lineOf(name);
}

function repositoryOf(text: string): string | undefined {
  return lineOf(withoutPasswords(text));
}
