import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Git } from "#git/run-git.ts";

/**
 * Returns the list of files that the user ignores everywhere, as arguments for Git, because Git runs without the user's
 * own configuration. Without it, backup files of an editor would make each tree dirty.
 */
export async function usersIgnores(git: Git, signal?: AbortSignal): Promise<readonly string[]> {
  const home = homedir();
  // The later one counts, as in Git.
  const files = [join(home, ".config", "git", "config"), join(home, ".gitconfig")];
  let found: string | undefined;
  for (const file of files) {
    if (!(await mayNameIgnores(file))) continue;
    const { exitCode, stdout } = await git.run(
      ["config", "--file", file, "--includes", "--type=path", "--get", "core.excludesFile"],
      signal && { signal },
    );
    if (exitCode === 0) found = stdout.toString().replace(/\n$/, "");
  }
  return found === undefined ? [] : ["-c", `core.excludesFile=${found}`];
}

/** Few files contain such a setting, and a build waits for each process that is started. */
async function mayNameIgnores(file: string): Promise<boolean> {
  const text = await readFile(file, "latin1").catch(() => "");
  return /excludesfile|\[\s*include/i.test(text);
}
