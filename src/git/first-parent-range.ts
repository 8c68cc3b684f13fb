import { createInterface } from "node:readline";
import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import { gitFault } from "./git-fault.ts";
import type { Git } from "./run-git.ts";

/** Commits of a range along first parents: `after` is not in it, `last` is. Both are in the mirror. */
export interface CommitRange {
  readonly mirror: string;
  readonly after: CommitSha;
  readonly last: CommitSha;
}

/** Returns the number of commits in a range. Throws `invalid_argument` when `after` does not come before `last`. */
export async function countRange(git: Git, range: CommitRange): Promise<number> {
  const { mirror, after, last } = range;
  const ancestor = await git.run(["merge-base", "--is-ancestor", after, last], {
    directory: mirror,
  });
  if (ancestor.exitCode !== 0) {
    throw new Fault(
      "invalid_argument",
      `${after.slice(0, 10)} does not come before ${last.slice(0, 10)}; name the older commit first`,
    );
  }
  const { exitCode, stdout, stderr } = await git.run(["rev-list", "--count", ...namesOf(range)], {
    directory: mirror,
  });
  if (exitCode !== 0) throw gitFault(mirror, stderr);
  return Number(stdout.toString("latin1").trim());
}

/** Yields the commits of a range, the newest first, one at a time, so that they are never all in memory. */
export async function* commitsOfRange(git: Git, range: CommitRange): AsyncGenerator<CommitSha> {
  const listing = git.start(["rev-list", ...namesOf(range)], { directory: range.mirror });
  listing.ended.catch(() => {});
  try {
    for await (const line of createInterface({ input: listing.stdout, crlfDelay: Infinity })) {
      yield CommitSha.parse(line);
    }
    const { exitCode, stderr } = await listing.ended;
    if (exitCode !== 0) throw gitFault(range.mirror, stderr);
  } finally {
    listing.kill(new Fault("cancelled", "the rest of the range is not needed"));
  }
}

function namesOf({ after, last }: CommitRange): string[] {
  return ["--first-parent", "--end-of-options", `${after}..${last}`];
}
