import { join, resolve } from "node:path";
import { Fault } from "#core/fault.ts";
import { checkoutRoot, commitOf, hasDefinitions, uncommittedChanges } from "../checkout.ts";
import type { Submission } from "../submission.ts";

/** Returns the data directory: the named one, or one in the repository. */
export async function dataDirectoryFor(
  named: string | undefined,
  directory: string,
): Promise<string> {
  if (named !== undefined) return resolve(directory, named);
  return join((await checkoutRoot(directory)) ?? directory, ".grange-data");
}

/**
 * Checks a repository on this machine before anything is started.
 *
 * Known problems are reported now, with advice, and not by a server a second later. Returns further remarks for the
 * user.
 */
export async function lookAtRepository({ root, request }: Submission): Promise<string[]> {
  if (root === undefined) return [];
  const rev = request.rev ?? "HEAD";
  if ((await checkoutRoot(root)) === undefined && (await commitOf(root, "HEAD")) === undefined) {
    throw new Fault(
      "failed_precondition",
      `${root} is not a Git repository with a commit. ` +
        "Change to one, name one with --repo PATH-OR-URL, or create one: git init && git add -A && git commit -m first. " +
        "To try a farm with an example: grange up --demo",
    );
  }
  const commit = await commitOf(root, rev);
  if (commit === undefined) {
    throw new Fault(
      "not_found",
      `there is no commit "${rev}" in ${root}. List commits: git -C ${root} log --oneline --all`,
    );
  }
  if (request.definitions === undefined && !(await hasDefinitions(root, commit))) {
    throw new Fault(
      "failed_precondition",
      `commit ${commit.slice(0, 10)} of ${root} has no .grange/*.yml, so there is nothing to run. ` +
        "Create definitions with `grange init` and commit them, or name another directory with --definitions DIR. " +
        "To serve only build tools, start `grange server` and `grange worker`",
    );
  }
  const changes = request.rev === undefined || rev === "HEAD" ? await uncommittedChanges(root) : 0;
  if (changes === 0) return [];
  const files = changes === 1 ? "1 file differs" : `${changes} files differ`;
  return [`${files} from the commit. The farm runs the commit, without these changes.`];
}
