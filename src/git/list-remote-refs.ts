import { gitFault } from "./git-fault.ts";
import { parseRemoteRefs, type RemoteRefs } from "./remote-refs.ts";
import type { Git } from "./run-git.ts";

/** Reads all refs of a repository. */
export async function listRemoteRefs(
  git: Git,
  url: string,
  signal?: AbortSignal,
): Promise<RemoteRefs> {
  const access = await git.accessTo(url);
  const { exitCode, stdout, stderr } = await git.run(
    ["ls-remote", "--symref", "--end-of-options", access.url],
    { access, ...(signal && { signal }) },
  );
  if (exitCode !== 0) throw gitFault(url, stderr);
  return parseRemoteRefs(stdout.toString("utf8"));
}
