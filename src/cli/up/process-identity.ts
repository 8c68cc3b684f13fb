import { readFileSync } from "node:fs";

/** A process id, and what tells the process from a later one that got the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

export function isRunning({ pid, startTime }: ProcessIdentity): boolean {
  return startTimeOf(pid) === startTime;
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
  } catch {
    return undefined;
  }
}
