import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CommitSha } from "#core/commit-sha.ts";

/** The program of a commit: it reports `work` as an exact figure, and keeps a processor busy for `rounds`. */
interface ToyCommit {
  readonly work: number;
  readonly rounds: number;
}

export interface ToyLine {
  /** A Git repository whose main branch has one commit for each. */
  readonly repository: string;
  /** In the order of the branch. */
  readonly commits: readonly CommitSha[];
  /** Their names in the lab. */
  readonly tags: readonly string[];
  remove(): Promise<void>;
}

/**
 * A toolchain that needs no compiler: a program of ten lines, with one commit for each version. `rounds` are rounds of
 * integer arithmetic, about a millisecond for each 300,000 on a processor of 2024.
 */
export async function toyLine(versions: readonly ToyCommit[]): Promise<ToyLine> {
  const repository = await mkdtemp(join(tmpdir(), "grange-toy-line-"));
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", repository, ...args], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", HOME: repository, ...identity },
    }).trim();
  git("init", "--quiet", "--initial-branch=main");
  const commits: CommitSha[] = [];
  for (const [index, version] of versions.entries()) {
    await mkdir(join(repository, "lib"), { recursive: true });
    await writeFile(join(repository, "lib", "tool.mjs"), program(version, index));
    await writeFile(join(repository, "lib", "tool.awk"), awkProgram(version, index));
    git("add", "--all");
    const date = new Date(Date.UTC(2026, 0, 1 + index)).toISOString();
    execFileSync("git", ["-C", repository, "commit", "--quiet", "-m", `version ${index}`], {
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: repository,
        ...identity,
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
      },
    });
    commits.push(CommitSha.parse(git("rev-parse", "HEAD")));
  }
  const tags = commits.map((commit) => commit.slice(0, 12));
  return {
    repository,
    commits,
    tags,
    remove: () => rm(repository, { recursive: true, force: true }),
  };
}

const identity = {
  GIT_AUTHOR_NAME: "toy",
  GIT_AUTHOR_EMAIL: "toy@example.invalid",
  GIT_COMMITTER_NAME: "toy",
  GIT_COMMITTER_EMAIL: "toy@example.invalid",
};

function program({ work, rounds }: ToyCommit, index: number): string {
  return [
    `// Version ${index}.`,
    "let x = 1;",
    `for (let i = 0; i < ${rounds}; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0;`,
    `console.log(JSON.stringify({ work: ${work}, x }));`,
    "",
  ].join("\n");
}

/** The same in a language that starts within a millisecond, to measure only the duration of `rounds`. */
function awkProgram({ work, rounds }: ToyCommit, index: number): string {
  return [
    `# Version ${index}.`,
    "BEGIN {",
    "  x = 1",
    `  for (i = 0; i < ${rounds}; i++) x = (x * 5 + i) % 1000003`,
    // awk interprets backslashes again.
    String.raw`  printf "{\"work\": ${work}, \"x\": %d}\n", x`,
    "}",
    "",
  ].join("\n");
}
