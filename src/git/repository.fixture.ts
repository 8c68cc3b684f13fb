import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gitEnvironment } from "./config.ts";

/** A repository for a test, driven by the real program. */
export interface TestRepository {
  readonly path: string;
  git(...args: string[]): string;
  /** Writes files; a value that begins with `->` is a symlink to what follows. */
  write(files: Readonly<Record<string, string | Uint8Array>>): void;
  /** Commits all files; returns the commit's id. */
  commit(subject: string): string;
}

const identity = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.org",
  GIT_COMMITTER_DATE: "2024-05-06T07:08:09Z",
};

export function runPlainGit(directory: string, ...args: string[]): string {
  const env = { ...gitEnvironment("/dev/null"), ...identity };
  return execFileSync("git", args, { cwd: directory, env, stdio: "pipe" }).toString().trim();
}

export function testRepository(root = mkdtempSync(join(tmpdir(), "grange-git-"))): TestRepository {
  const path = mkdtempSync(join(root, "repository-"));
  const git = (...args: string[]) => runPlainGit(path, ...args);
  git("init", "--quiet", "--initial-branch=main");
  return {
    path,
    git,
    write(files) {
      for (const [name, content] of Object.entries(files)) {
        const file = join(path, name);
        mkdirSync(dirname(file), { recursive: true });
        if (typeof content === "string" && content.startsWith("->")) {
          symlinkSync(content.slice(2), file);
        } else {
          writeFileSync(file, content);
        }
      }
    },
    commit(subject) {
      git("add", "--all");
      git("commit", "--quiet", "--allow-empty", `--message=${subject}`);
      return git("rev-parse", "HEAD");
    },
  };
}
