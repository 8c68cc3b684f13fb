import { openSync, readdirSync, readFileSync } from "node:fs";

/** In the environment of all that is started, where no sandbox ends what leaves its process group. */
export const marker = "GRANGE_MEASURING";

/** Ends a process group, and whatever left it but still carries the mark. */
export function killAll(pid: number, mark: string | undefined): void {
  kill(-pid);
  if (mark === undefined) return;
  // Twice: one that forks meanwhile is not yet in the first list.
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
    // It is gone already.
  }
}

/** Set for files that a process which is started does not get. */
const closeOnExec = 0o2000000;
let stoodIn: ("ignore" | number)[] | undefined;

/**
 * What stands in for files that this process was given open by who started it, from file 4 on. Otherwise a
 * measured program would have them, too: the pipe of a supervisor, a socket.
 */
export function standInFiles(): ("ignore" | number)[] {
  if (stoodIn !== undefined) return stoodIn;
  const given = readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 3 && isPassedOn(fd));
  if (given.length === 0) stoodIn = [];
  else {
    const nothing = openSync("/dev/null", "r+");
    stoodIn = Array.from({ length: Math.max(...given) - 3 }, (_, i) =>
      given.includes(i + 4) ? nothing : "ignore",
    );
  }
  return stoodIn;
}

function isPassedOn(fd: number): boolean {
  try {
    const [, flags = "0"] =
      /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // That of the look itself.
    return false;
  }
}
