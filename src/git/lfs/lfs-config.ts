import type { CommitSha } from "#core/commit-sha.ts";
import { withoutPassword } from "../repository-address.ts";
import type { Git } from "../run-git.ts";

/**
 * Returns the LFS server that a commit's `.lfsconfig` names; undefined without one.
 *
 * Only for an error message: the farm does not contact it. The file is part of the commit, and its author could
 * otherwise direct the farm, with its credentials for that host, to any address.
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
