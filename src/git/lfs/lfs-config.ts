import type { CommitSha } from "#core/commit-sha.ts";
import { withoutPassword } from "../repository-address.ts";
import type { Git } from "../run-git.ts";

/**
 * Returns the LFS server that a commit's `.lfsconfig` names; undefined where it names none.
 *
 * For people, to be named in an error: the farm does not ask it. The file comes with the commit, and would let its
 * author send the farm, with what it knows of that host, to any address.
 */
export async function serverOfLfsConfig(
  git: Git,
  mirror: string,
  sha: CommitSha,
): Promise<string | undefined> {
  const { exitCode, stdout } = await git.run(
    ["config", "--no-includes", `--blob=${sha}:.lfsconfig`, "-z", "--list"],
    { directory: mirror, maxOutputBytes: 1024 * 1024 },
  );
  if (exitCode !== 0) return undefined;
  for (const line of stdout.toString("utf8").split("\0")) {
    const [, value] = /^(?:lfs\.url|remote\.[^\n]+\.lfsurl)\n([\s\S]+)$/.exec(line) ?? [];
    if (value !== undefined) return withoutPassword(value).slice(0, 500);
  }
  return undefined;
}
