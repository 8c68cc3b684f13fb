import { outputOf } from "../run-program.ts";
import { fastImportStream, type NewCommit } from "./fast-import.ts";

/** Creates a Git repository in an empty folder, with these commits on `main`, and checks out the newest. */
export async function importCommits(
  folder: string,
  commits: AsyncIterable<NewCommit>,
): Promise<void> {
  await outputOf("git", ["init", "--quiet", "--initial-branch=main", folder]);
  await outputOf("git", ["-C", folder, "fast-import", "--quiet", "--done"], {
    input: fastImportStream(commits),
  });
  await outputOf("git", ["-C", folder, "checkout", "--quiet", "--force", "main"]);
}
