import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { ownVariables } from "../config.ts";

const run = promisify(execFile);

/** Git answers in five milliseconds; a build does not wait longer than this for it. */
const answersWithinMs = 2_000;

/**
 * Returns whether Git can report the commit that dune requests.
 *
 * When its cache is on, dune 2 runs `git rev-parse HEAD` in each repository. It fails when there is no commit or when
 * Git refuses, although the same build works without a granary. Nested repositories are not checked.
 */
export async function gitKnowsCommit(
  directory: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  if (!isInRepository(directory)) return true;
  const { PATH } = ownVariables();
  const { HOME, XDG_CONFIG_HOME } = variables;
  try {
    await run("git", ["rev-parse", "HEAD"], {
      cwd: directory,
      env: { PATH, HOME, XDG_CONFIG_HOME },
      timeout: answersWithinMs,
    });
    return true;
  } catch {
    return false;
  }
}

function isInRepository(directory: string): boolean {
  for (let at = resolve(directory); ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (dirname(at) === at) return false;
  }
}
