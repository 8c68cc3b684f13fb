import { readFileSync } from "node:fs";

/** Names a process of this machine, and tells it from a later one that got the same number: a part of file names. */
export function markOfProcess(pid: number): string {
  return `${pid}-${startTimeOf(pid) ?? "0"}`;
}

/** Whether the process is still there whose mark a name begins with. */
export function isAlive(name: string): boolean {
  const [, pid, startTime] = /^(\d+)-(\w+)/.exec(name) ?? [];
  return pid !== undefined && startTimeOf(Number(pid)) === startTime;
}

/** Field 22 of /proc/PID/stat; where there is no /proc, that it lives must do. */
function startTimeOf(pid: number): string | undefined {
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // A zombie has ended; only its parent has not asked yet.
      return fields[0] === "Z" ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  try {
    process.kill(pid, 0);
    return "alive";
  } catch (reason) {
    return (reason as NodeJS.ErrnoException).code === "EPERM" ? "alive" : undefined;
  }
}
