import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Returns branches and tags of a bare repository with their commits, as Git reports them. */
export async function standingRefs(path: string): Promise<ReadonlyMap<string, string>> {
  const format = "%(refname) %(objectname) %(*objectname)";
  const { stdout } = await run("git", [
    "-C",
    path,
    "for-each-ref",
    `--format=${format}`,
    "refs/heads",
    "refs/tags",
  ]);
  return new Map(
    stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const [ref = "", object = "", tagged = ""] = line.split(" ");
        return [ref, tagged === "" ? object : tagged];
      }),
  );
}
