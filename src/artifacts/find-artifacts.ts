import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { openGit } from "#git/run-git.ts";
import type { PrivateHosts } from "#outgoing/allowed-address.ts";
import type { Suite } from "#suites/suite.ts";
import { suitePattern } from "#suites/suite-pattern.ts";
import { type KnownArtifact, knownArtifacts } from "./known-artifacts.ts";
import { knownCommits, resolveCommit } from "./known-commits.ts";
import { listCommits } from "./list-commits.ts";
import { listVersions } from "./list-versions.ts";
import { resolveTag } from "./resolve-tag.ts";

interface FindOptions {
  readonly signal?: AbortSignal;
  /** The hosts on private addresses that Git may contact; all hosts when absent, for commands of a user. */
  readonly privateHosts?: PrivateHosts | undefined;
}

/** The current content of a suite's source, as one query shows it. */
export interface FoundArtifacts {
  /** The main line and the releases, each oldest first. */
  readonly artifacts: readonly KnownArtifact[];
  /**
   * Returns the artifact of a tag of any kind: of the main line, a release, or any exact version or commit (then a try
   * artifact). A commit's tag is shorter than its id. Throws `not_found` with similar tags.
   */
  resolve(tag: string): KnownArtifact;
}

/** Asks npm or Git for the available artifacts. Throws `unavailable` when the source cannot be reached. */
export async function findArtifacts(
  suite: Suite,
  { signal, privateHosts }: FindOptions = {},
): Promise<FoundArtifacts> {
  switch (suite.artifacts.from) {
    case "npm":
      return fromNpm(suite, signal);
    case "git":
      return fromGit(suite, suite.artifacts, privateHosts, signal);
    case "nowhere":
      return {
        artifacts: [],
        resolve: (tag) => {
          throw new Fault(
            "not_found",
            `suite ${suite.suite} has no source of artifacts; give tarballs for ${tag}`,
          );
        },
      };
  }
}

async function fromNpm(suite: Suite, signal: AbortSignal | undefined): Promise<FoundArtifacts> {
  const names = new Set(
    Object.values(suite.backends).flatMap(({ packages }) => packages.map(({ npm }) => npm)),
  );
  const published = await Promise.all([...names].map((name) => listVersions(name, { signal })));
  const artifacts = knownArtifacts(suite, published);
  return { artifacts, resolve: (tag) => resolveTag(suite, artifacts, published, tag) };
}

async function fromGit(
  suite: Suite,
  source: Extract<Suite["artifacts"], { from: "git" }>,
  privateHosts: PrivateHosts | undefined,
  signal: AbortSignal | undefined,
): Promise<FoundArtifacts> {
  const release = source.release && suitePattern(source.release.tags);
  const folder = await mkdtemp(join(tmpdir(), "grange-commits-"));
  const git = await openGit(folder, privateHosts);
  try {
    const { repository, branch } = source;
    const isRelease = (tag: string) => release?.match(tag) !== undefined;
    const listed = await listCommits(git, { repository, branch, isRelease }, folder, signal);
    const artifacts = knownCommits(suite, listed);
    return { artifacts, resolve: (tag) => resolveCommit(suite, artifacts, tag, new Date()) };
  } finally {
    await git.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
