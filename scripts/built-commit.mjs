// Returns the commit of a build, for `grange --version`.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Returns the commit's first ten digits, with `-changed` when files differ from it, or `unknown` outside a Git checkout. */
export async function commitOf(checkout) {
  const git = async (...words) => (await run("git", ["-C", checkout, ...words])).stdout.trim();
  try {
    // A checkout inside another repository must not show that repository's commit.
    if ((await git("rev-parse", "--show-prefix")) !== "") return "unknown";
    const commit = await git("rev-parse", "--short=10", "HEAD");
    const changes = await git("status", "--porcelain", "--untracked-files=no");
    return changes === "" ? commit : `${commit}-changed`;
  } catch {
    return "unknown";
  }
}
