import { CommitSha } from "#core/commit-sha.ts";
import { Fault } from "#core/fault.ts";
import type { GitLink } from "./commit-tree.ts";
import { gitFault } from "./git-fault.ts";
import type { Git } from "./run-git.ts";

/** A submodule of a commit. */
export interface Submodule {
  readonly path: string;
  readonly commit: CommitSha;
  /** The address of its repository, or why it has none. */
  readonly repository: string | Fault;
}

/** Returns a commit's `.gitmodules`: path → URL as written; undefined where the commit has no such file. */
export async function readSubmoduleUrls(
  git: Git,
  mirror: string,
  sha: CommitSha,
): Promise<ReadonlyMap<string, string> | undefined> {
  const { exitCode, stdout, stderr } = await git.run(
    ["config", "--no-includes", `--blob=${sha}:.gitmodules`, "-z", "--list"],
    { directory: mirror, maxOutputBytes: 4 * 1024 * 1024 },
  );
  // Git prints an error when the file does not exist. A killed process prints nothing, and that result must not be
  // cached.
  if (exitCode !== 0 && stderr === "") throw gitFault(mirror, "it ended without a message");
  if (exitCode !== 0) return undefined;
  return urlsByPath(stdout.toString("utf8"));
}

/** Reads `submodule.NAME.KEY\nVALUE\0`, repeated. */
function urlsByPath(listed: string): ReadonlyMap<string, string> {
  const byName = new Map<string, { path?: string; url?: string }>();
  for (const line of listed.split("\0")) {
    const [, name, key, value] = /^submodule\.([\s\S]+)\.(path|url)\n([\s\S]*)$/.exec(line) ?? [];
    if (name === undefined || key === undefined || value === undefined) continue;
    byName.set(name, { ...byName.get(name), [key]: value });
  }
  const urls = new Map<string, string>();
  for (const { path, url } of byName.values())
    if (path !== undefined && url !== undefined) urls.set(path.replace(/\/+$/, ""), url);
  return urls;
}

/** Returns the submodules for the links of a commit; `repository` is the address of the commit's own. */
export function submodulesOf(
  repository: string,
  links: readonly GitLink[],
  urls: ReadonlyMap<string, string>,
): Submodule[] {
  return links.map(({ path, commit }) => {
    const url = urls.get(path);
    return {
      path,
      commit: CommitSha.parse(commit),
      repository:
        url === undefined
          ? new Fault("failed_precondition", "the commit's .gitmodules has no URL for it")
          : submoduleAddress(repository, url),
    };
  });
}

/**
 * Resolves a URL of `.gitmodules`: a URL that begins with `./` or `../` is relative to the outer repository, as in Git.
 */
export function submoduleAddress(repository: string, url: string): string {
  if (!/^\.\.?\//.test(url)) return url;
  let base = repository.replace(/\/+$/, "");
  let rest = url;
  for (;;) {
    if (rest.startsWith("./")) rest = rest.slice(2);
    else if (rest.startsWith("../")) {
      rest = rest.slice(3);
      // In `git@host:name`, the part after the colon.
      base = base.replace(/([/:])[^/:]*$/, (_, mark: string) => (mark === ":" ? ":" : ""));
    } else break;
  }
  return base.endsWith(":") ? base + rest : `${base}/${rest}`;
}
