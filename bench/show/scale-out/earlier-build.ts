import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Release } from "../../../test/support/later-release.ts";

const run = promisify(execFile);
const checkout = join(import.meta.dirname, "..", "..", "..");

/** Since this file exists, a server starts with a newer schema that works with it. */
const rule = "src/db/server-compatibility.ts";

/**
 * Builds the program of an earlier commit in a temporary directory: the last one without the newest migration, if it has
 * the rule of rolling upgrades, else the first one that has it. It uses the packages of this checkout.
 */
export async function buildOfEarlierCommit(): Promise<Release & { readonly commit: string }> {
  const commit = await earlierCommit();
  const top = await mkdtemp(join(tmpdir(), "grange-earlier-"));
  await run("/bin/sh", ["-c", `git archive ${commit} | tar -x -C '${top}'`], { cwd: checkout });
  await symlink(join(checkout, "node_modules"), join(top, "node_modules"));
  await run(process.execPath, ["scripts/build.mjs"], { cwd: top });
  return {
    commit,
    program: join(top, "dist", "grange.js"),
    remove: () => rm(top, { recursive: true, force: true }),
  };
}

async function earlierCommit(): Promise<string> {
  const [firstWithRule] = await commitsOf(["--diff-filter=A", "--", rule]);
  if (firstWithRule === undefined) throw new Error("the history of this checkout is incomplete");
  const [newestMigration] = await commitsOf(["--diff-filter=A", "--", "src/db/migrations"]);
  const before = newestMigration && (await isAfter(newestMigration, firstWithRule));
  return before ? `${newestMigration}~1` : firstWithRule;
}

async function commitsOf(args: readonly string[]): Promise<string[]> {
  const { stdout } = await run("git", ["log", "--format=%H", ...args], { cwd: checkout });
  return stdout.split("\n").filter((line) => line !== "");
}

function isAfter(commit: string, earlier: string): Promise<boolean> {
  return run("git", ["merge-base", "--is-ancestor", earlier, `${commit}~1`], {
    cwd: checkout,
  }).then(
    () => true,
    () => false,
  );
}
