import { readdir, readFile } from "node:fs/promises";

interface SeenProcess {
  readonly pid: number;
  readonly commandLine: string;
}

/**
 * Returns the living processes of this machine that have `mark` in their command line or
 * environment. A mark in the environment of a program is inherited by all its descendants, in any
 * group or session.
 */
export async function processesWith(mark: string): Promise<SeenProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const seen = await Promise.all(
    pids
      .filter((pid) => pid !== process.pid)
      .map(async (pid) => {
        const [commandLine, environment] = await Promise.all([
          // A process that has ended has no command line, even before its parent has read its exit
          // code.
          readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
          readFile(`/proc/${pid}/environ`, "utf8").catch(() => ""),
        ]);
        const isMarked = commandLine.includes(mark) || environment.includes(mark);
        return isMarked
          ? { pid, commandLine: commandLine.replaceAll("\0", " ").trim() }
          : undefined;
      }),
  );
  return seen.filter((each) => each !== undefined);
}

/**
 * Resolves when no such process exists. The system reports an end only to parents, so this function
 * polls.
 */
export async function untilNoProcessWith(mark: string): Promise<void> {
  while ((await processesWith(mark)).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
