import { resolve } from "node:path";
import { runProgram } from "./run-program.ts";

/** Returns the top of the Git checkout that contains a directory. */
export async function checkoutRoot(directory: string): Promise<string | undefined> {
  const { exitCode, stdout } = await git(directory, "rev-parse", "--show-toplevel");
  return exitCode === 0 ? resolve(stdout.trimEnd()) : undefined;
}

/** Returns how many files of a checkout differ from its commit. */
export async function uncommittedChanges(root: string): Promise<number> {
  const { stdout } = await git(root, "status", "--porcelain", "--untracked-files=normal");
  return stdout.split("\n").filter((line) => line !== "").length;
}

/** Returns the full id of a commit in the user's notation; undefined when the repository has none. */
export async function commitOf(root: string, rev: string): Promise<string | undefined> {
  const { exitCode, stdout } = await git(
    root,
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${rev}^{commit}`,
  );
  return exitCode === 0 ? stdout.trim() : undefined;
}

/** Returns whether a commit has definitions, or a pointer to them. */
export async function hasDefinitions(root: string, commit: string): Promise<boolean> {
  return (await filesOfDefinitions(root, commit)).some(
    (name) => isDefinitionFile(name) || name === ".grange/source",
  );
}

/** Returns the definitions of a commit: path → text. */
export async function definitionTexts(root: string, commit: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const path of await definitionFiles(root, commit)) {
    texts.set(path, (await fileAt(root, commit, path)) ?? "");
  }
  return texts;
}

async function definitionFiles(root: string, commit: string): Promise<string[]> {
  return (await filesOfDefinitions(root, commit)).filter(isDefinitionFile);
}

async function filesOfDefinitions(root: string, commit: string): Promise<string[]> {
  const { stdout } = await git(root, "ls-tree", "--name-only", "-z", commit, ".grange/");
  return stdout.split("\0");
}

function isDefinitionFile(name: string): boolean {
  return /\.ya?ml$/.test(name);
}

interface CommitFacts {
  readonly subject: string;
  readonly author: string;
  readonly committedAt: Date;
}

export async function commitFacts(root: string, commit: string): Promise<CommitFacts> {
  const { stdout } = await git(root, "show", "--no-patch", "--format=%s%n%an%n%cI", commit);
  const [subject = "", author = "", date = ""] = stdout.split("\n");
  return { subject, author, committedAt: new Date(date) };
}

/** Returns a file as it is in a commit. */
export async function fileAt(
  root: string,
  commit: string,
  path: string,
): Promise<string | undefined> {
  const { exitCode, stdout } = await git(root, "cat-file", "blob", `${commit}:${path}`);
  return exitCode === 0 ? stdout : undefined;
}

/** Returns Git's error for a repository that another user owns; undefined when there is none. */
export async function ownershipRefusal(directory: string): Promise<string | undefined> {
  const { stderr } = await git(directory, "rev-parse", "--git-dir");
  return stderr.includes("dubious ownership") ? stderr.trim() : undefined;
}

function git(directory: string, ...args: string[]) {
  return runProgram("git", ["-C", directory, ...args]);
}
