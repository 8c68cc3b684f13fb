import type { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { similarNames } from "./similar-names.ts";

/**
 * Refuses what cannot be a revision. Afterwards it is safe to be an argument of Git: no option, no second argument, no
 * path of a file (`main:src/a.ts`), nothing that exists only in this machine's reflogs (`main@{1}`).
 */
export function assertPlainRevision(revision: string): void {
  const problem =
    revision === ""
      ? "is empty"
      : revision.startsWith("-")
        ? "begins with a dash"
        : revision.length > 1_000
          ? "is too long"
          : /[\s:?*[\\\p{Cc}]|\.\.|@\{/u.test(revision)
            ? "has characters that no revision has"
            : undefined;
  if (problem) {
    throw new Fault(
      "invalid_argument",
      `the revision ${JSON.stringify(revision.slice(0, 100))} ${problem}`,
    );
  }
}

/** Splits `main~2^` into its name, `main`, and the steps from there, `~2^`. */
export function splitRevision(revision: string): { readonly name: string; readonly steps: string } {
  const steps = /(?:[~^]\d*)+$/.exec(revision)?.[0] ?? "";
  return { name: revision.slice(0, revision.length - steps.length), steps };
}

/** Returns the full names that a short name may stand for, in Git's order. */
export function candidateRefs(name: string): string[] {
  return [name, `refs/${name}`, `refs/tags/${name}`, `refs/heads/${name}`];
}

/** Returns the branch of a full ref name. */
export function branchOf(ref: string | undefined): string | undefined {
  return ref?.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : undefined;
}

export function unknownRevision(
  repository: string,
  revision: string,
  refs: readonly string[],
): Fault {
  const names = refs.map((ref) => ref.replace(/^refs\/(heads|tags|remotes)\//, ""));
  const similar = similarNames(revision, [...new Set(names)]);
  const hint =
    similar.length > 0
      ? `did you mean ${similar.join(", ")}?`
      : "give a branch, a tag, a commit's id or refs/pull/N/head";
  return new Fault(
    "not_found",
    `${repository} has no revision ${JSON.stringify(revision)}; ${hint}`,
  );
}

export function emptyRepository(repository: string): Fault {
  return new Fault("failed_precondition", `${repository} has no commits yet; make the first one`);
}

export function ambiguousRevision(repository: string, revision: string): Fault {
  return new Fault(
    "invalid_argument",
    `${JSON.stringify(revision)} is the start of several ids in ${repository}; use more digits`,
  );
}

/** The commit that a revision names. */
export interface FoundRevision {
  readonly sha: CommitSha;
  /** The branch that it named, directly or as HEAD. */
  readonly branch?: string;
  /** The ref that it was found by, in full; steps from there (`~2`) do not count. An id has none. */
  readonly ref?: string;
}
