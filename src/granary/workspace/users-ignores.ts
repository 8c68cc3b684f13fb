import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Git } from "#git/run-git.ts";

/**
 * The list of files that the user ignores everywhere, as arguments for Git, which is run without the user's own configuration.
 * Without it an editor's droppings would make each tree of theirs dirty.
 */
export async function usersIgnores(git: Git, signal?: AbortSignal): Promise<readonly string[]> {
  const home = homedir();
  // The later one counts, as Git has it.
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

/** Few files contain any, and a build waits for each process that is started. */
async function mayNameIgnores(file: string): Promise<boolean> {
  const text = await readFile(file, "latin1").catch(() => "");
  return /excludesfile|\[\s*include/i.test(text);
}
