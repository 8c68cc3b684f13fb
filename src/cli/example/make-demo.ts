import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault, messageOf } from "#core/fault.ts";
import { outputOf } from "../run-program.ts";
import { demoCommits, readDemoCommits } from "./demo-commits.ts";
import { importCommits } from "./import-commits.ts";

export interface DemoRepository {
  readonly path: string;
  /** The commits of the demo's history, oldest first; without commits that were added later. */
  readonly commits: readonly string[];
}

/**
 * Creates the repository of the demo project in a new or empty folder.
 *
 * It is created in a temporary folder and renamed, so that an interrupted attempt leaves no partial repository.
 */
export async function makeDemo(path: string): Promise<DemoRepository> {
  try {
    await mkdir(dirname(path), { recursive: true });
    if (existsSync(path)) {
      if ((await readdir(path)).length > 0)
        throw new Fault(
          "already_exists",
          `${path} is not empty; name another directory with --out DIR`,
        );
      await rmdir(path);
    }
    const unfinished = await mkdtemp(join(dirname(path), ".demo-"));
    try {
      const made = join(unfinished, "repository");
      await importCommits(made, readDemoCommits());
      await rename(made, path);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault(
      "failed_precondition",
      `cannot make the demo project in ${path}: ${messageOf(cause)}. Make this folder writable, or name another one`,
      { cause },
    );
  }
  return readDemo(path);
}

/** Finds the demo project of an earlier call, including later commits; or creates it. */
export async function findOrMakeDemo(path: string): Promise<DemoRepository> {
  return existsSync(join(path, ".git")) ? readDemo(path) : makeDemo(path);
}

async function readDemo(path: string): Promise<DemoRepository> {
  const log = await outputOf("git", [
    "-C",
    path,
    "log",
    "--first-parent",
    "--reverse",
    "--format=%H",
    "main",
  ]);
  const commits = log.trim().split("\n").slice(0, demoCommits.length);
  if (commits.length === demoCommits.length) return { path, commits };
  throw new Fault(
    "failed_precondition",
    `${path} is not the demo project: its branch main has ${commits.length} commits. Delete the folder to create the project again`,
  );
}
