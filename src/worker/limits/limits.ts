/** What one job may use. */
export interface Limits {
  /** Unset: no limit. */
  readonly memoryBytes?: number;
  /** In cores; fractions are shares of time. Unset: no limit. */
  readonly cpus?: number;
  readonly processes: number;
}

/** What a whole process tree used. */
export interface TreeUsage {
  readonly userMs: number;
  readonly systemMs: number;
  readonly peakMemoryBytes: number;
  /** Pages that were had without, and with, reading from a disk; 0 where nobody counts. */
  readonly pageReclaims: number;
  readonly pageFaults: number;
  /** From and to disks; 0 where nobody counts. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly measuredBy: "cgroup-v2" | "cgroup-v1" | "proc";
}

/** How a machine holds jobs to their limits and measures them. */
export interface Limiter {
  readonly kind: "cgroup-v2" | "cgroup-v1" | "proc";
  /** What it can do, for people. */
  readonly can: readonly ("memory" | "cpus" | "processes" | "kill")[];
  open(place: GroupPlace): Promise<ProcessGroup>;
}

/** Whose processes a group is for. */
export interface GroupPlace {
  /** Unique on this machine. */
  readonly name: string;
  /** The job's own directory, whose path is in its environment when it is not in a namespace. */
  readonly scratch: string;
  /** Whether its processes are in a pid namespace, and end when the first of it does. */
  readonly inNamespace: boolean;
}

/** All processes of one job, and what they use together. */
export interface ProcessGroup {
  /** Holds the group to limits, before it does anything that needs them. */
  limit(limits: Limits): Promise<void>;
  /** The command line that runs another one in the group. */
  commandLine(argv: readonly string[]): string[];
  /** Told once the process is there. */
  began(pid: number): void;
  /** The group's processes, apart from a shell of ours that waits for them. */
  members(): Promise<number[]>;
  /** Ends every process in the group with SIGKILL; resolves when it is empty. */
  kill(): Promise<void>;
  usage(): Promise<TreeUsage>;
  /** Whether the kernel, or we for it, ended a process for want of memory. */
  ranOutOfMemory(): Promise<boolean>;
  /** Removes the group; nothing may be in it. */
  close(): Promise<void>;
}

/** From a `memory.stat` of either hierarchy, which counts both kinds of faults in `pgfault`. */
export function pagesIn(
  memoryStat: ReadonlyMap<string, number>,
): Pick<TreeUsage, "pageReclaims" | "pageFaults"> {
  const pageFaults = memoryStat.get("pgmajfault") ?? 0;
  return { pageReclaims: Math.max(0, (memoryStat.get("pgfault") ?? 0) - pageFaults), pageFaults };
}
