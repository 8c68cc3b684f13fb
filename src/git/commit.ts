import { z } from "zod";
import { CommitSha } from "#core/commit-sha.ts";
import { gitFault } from "./git-fault.ts";
import type { Git } from "./run-git.ts";

/** The text of a commit, which is completely untrusted. */
export const Commit = z.object({
  sha: CommitSha,
  /** First parent first; none for a root. */
  parents: z.array(CommitSha),
  author: z.object({ name: z.string(), email: z.string() }),
  committedAt: z.date(),
  subject: z.string(),
});
export type Commit = z.infer<typeof Commit>;

/** A subject may be very long; pages show at most this much, in characters. */
const maxSubjectLength = 1_000;

/** Reads a commit from a mirror that contains it; of a tag object, the commit that it names. */
export async function readCommit(git: Git, mirror: string, sha: CommitSha): Promise<Commit> {
  const { exitCode, stdout, stderr } = await git.run(
    [
      "log",
      "-1",
      "--no-show-signature",
      "--format=%H%x00%P%x00%an%x00%ae%x00%ct%x00%s",
      `${sha}^{commit}`,
    ],
    { directory: mirror },
  );
  if (exitCode !== 0) throw gitFault(mirror, stderr);
  const [id, parents = "", name, email, seconds, subject = ""] = stdout
    .toString("utf8")
    .replace(/\n$/, "")
    .split("\0");
  return Commit.parse({
    sha: id,
    parents: parents.split(" ").filter((parent) => parent !== ""),
    author: { name, email },
    committedAt: new Date(Number(seconds) * 1_000),
    subject: subject.slice(0, maxSubjectLength),
  });
}
