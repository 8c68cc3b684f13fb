import { readdirSync, readFileSync } from "node:fs";

/**
 * A mark in the environment of every started program, for systems without a sandbox that ends processes outside of its
 * process group.
 */
export const marker = "GRANGE_MEASURING";

/** Kills a process group, and processes that left it but still have the mark. */
export function killAll(pid: number, mark: string | undefined): void {
  kill(-pid);
  if (mark === undefined) return;
  // Twice, because a process that forks meanwhile is not in the first list.
  for (let round = 0; round < 2; round++) {
    for (const name of readdirSync("/proc")) {
      if (/^\d+$/.test(name) && carries(name, mark)) kill(Number(name));
    }
  }
}

function carries(pid: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`${marker}=${mark}`);
  } catch {
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}
