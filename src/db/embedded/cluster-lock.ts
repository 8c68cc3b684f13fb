import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { lockOpenFile } from "#machine/lock-open-file.ts";
import { killLeftovers } from "./leftovers.ts";

/** An open file that PostgreSQL's processes inherit. */
interface ClusterLock {
  readonly file: number;
  release(): void;
}

/** The time within which the processes of an earlier PostgreSQL notice that their postmaster has ended. */
const leftoversEndWithinMs = 15_000;
const lookEveryMs = 50;

/**
 * Locks a data directory for the processes of PostgreSQL.
 *
 * PostgreSQL itself relies on process numbers and shared memory, which do not work across containers: two PostgreSQL
 * servers in one directory destroy it. All its processes inherit the lock file and with it the kernel's lock, so the
 * lock is held while one of them runs, even after the end of the server that started them.
 *
 * The caller holds the data directory and has ended the first process of an earlier PostgreSQL. Its remaining processes
 * are killed if they are visible; otherwise this function waits for them.
 *
 * @throws Fault `unavailable` when processes that cannot be ended from here hold the directory
 */
export async function lockCluster(
  directory: string,
  withinMs = leftoversEndWithinMs,
): Promise<ClusterLock> {
  const path = join(directory, "postgres.lock");
  const file = openSync(path, "a", 0o600);
  const until = performance.now() + withinMs;
  while ((await lockOpenFile(file, [directory])) === "held") {
    if (performance.now() > until) {
      closeSync(file);
      throw new Fault(
        "unavailable",
        `processes of an earlier PostgreSQL still use ${directory}, in another container or as another user. ` +
          "End them, then start again",
      );
    }
    await killLeftovers(path);
    await rest(lookEveryMs);
  }
  return { file, release: () => closeSync(file) };
}
