import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import type { Suite } from "#suites/suite.ts";
import type { Components } from "./component.ts";
import type { KnownArtifact } from "./known-artifacts.ts";
import type { ListedCommits } from "./list-commits.ts";
import { nearTags } from "./near-tags.ts";

/** Short enough for people, and long enough to be unique. */
const tagLength = 12;

/** Returns the artifacts of a suite from Git: each commit of the branch, oldest first, then releases, oldest first. */
export function knownCommits(suite: Suite, { line, tags }: ListedCommits): KnownArtifact[] {
  let last: KnownArtifact | undefined;
  const masters = line.toReversed().map(({ sha, committedAt }): KnownArtifact => {
    // Clocks of committers differ. The order follows the dates, so they must increase.
    const least = last === undefined ? 0 : last.datedAt.getTime() + 1;
    last = {
      tag: sha.slice(0, tagLength),
      kind: "master",
      datedAt: new Date(Math.max(committedAt.getTime(), least)),
      parent: last?.tag ?? null,
      components: componentsAt(suite, sha),
      commit: sha,
    };
    return last;
  });
  const releases = tags
    .toSorted((a, b) => a.committedAt.getTime() - b.committedAt.getTime())
    .map(
      ({ name, sha, committedAt }, index, all): KnownArtifact => ({
        tag: name,
        kind: "release",
        datedAt: committedAt,
        parent: all[index - 1]?.name ?? null,
        components: componentsAt(suite, sha),
        commit: sha,
      }),
    );
  return [...masters, ...releases];
}

/**
 * Returns the artifact of a tag, of a beginning of a commit's id, or of any whole id; the last is a try artifact on top
 * of the branch.
 */
export function resolveCommit(
  suite: Suite,
  known: readonly KnownArtifact[],
  tag: string,
  now: Date,
): KnownArtifact {
  const found = known.find((artifact) => artifact.tag === tag);
  if (found !== undefined) return found;
  const masters = known.filter(({ kind }) => kind === "master");
  if (/^[0-9a-f]{7,40}$/.test(tag)) {
    const meant = masters.filter(({ commit }) => commit?.startsWith(tag));
    if (meant.length === 1 && meant[0] !== undefined) return meant[0];
    if (tag.length === 40)
      return {
        tag: tag.slice(0, tagLength),
        kind: "try",
        datedAt: now,
        parent: masters.at(-1)?.tag ?? null,
        components: componentsAt(suite, tag),
        commit: tag,
      };
  }
  const near = nearTags(
    tag,
    known.filter(({ kind }) => kind === "release").map((artifact) => artifact.tag),
  );
  const latest = masters.at(-1)?.tag;
  throw new Fault(
    "not_found",
    `suite ${suite.suite} has no artifact ${tag}; give the full id of a commit, or a prefix of the id of a commit on the branch` +
      `${latest === undefined ? "" : `, such as ${latest}`}${near.length === 0 ? "" : `, or a release: ${near.join(", ")}`}`,
  );
}

function componentsAt({ artifacts, backends }: Suite, commit: string): Components {
  if (artifacts.from !== "git") return {};
  const { repository } = artifacts;
  return Object.fromEntries(
    Object.keys(backends).map((backend) => [
      backend,
      { kind: "git", repository, commit: CommitSha.parse(commit) },
    ]),
  );
}
