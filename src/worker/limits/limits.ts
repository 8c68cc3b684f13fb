import { cpuListText } from "./cpu-list.ts";
import type { LackOfMemory } from "./lack-of-memory.ts";

/** The resources that one job may use. */
export interface Limits {
  /** Unset: no limit. */
  readonly memoryBytes?: number;
  /** In cores; fractions are shares of time. Undefined: no limit. */
  readonly cpus?: number;
  /** The CPUs on which it runs and which it sees; as many as `cpus` requires. Undefined: any. */
  readonly cpuSet?: readonly number[];
  readonly processes: number;
  /** The limit for all files that it writes, while it runs. Unset: no limit. */
  readonly diskBytes?: number;
  /** The limit for all outputs together. Unset: the limit of the worker. */
  readonly outputBytes?: number;
}

/** The resource that a job had too little of; undefined when none is known. */
export type Lack = LackOfMemory | "processes" | undefined;

/** How the process of a group ended. */
interface GroupEnd {
  readonly exitCode: number;
  /** The worker ended it, because of a timeout or a cancellation. */
  readonly wasStopped: boolean;
}

/** The resources that a whole process tree used. */
export interface TreeUsage {
  readonly userMs: number;
  readonly systemMs: number;
  readonly peakMemoryBytes: number;
  /** Page faults without and with a read from a disk; 0 when they are not counted. */
  readonly pageReclaims: number;
  readonly pageFaults: number;
  /** Bytes read from and written to disks; 0 when they are not counted. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly measuredBy: "cgroup-v2" | "cgroup-v1" | "proc";
}

/** Enforces the limits of jobs on a machine and measures the jobs. */
export interface Limiter {
  readonly kind: "cgroup-v2" | "cgroup-v1" | "proc";
  /** The limits that it can enforce, for display. */
  readonly can: readonly ("memory" | "cpus" | "CPU sets" | "processes" | "kill")[];
  open(place: GroupPlace): Promise<ProcessGroup>;
}

/** The settings from which a limiter is chosen. */
export interface LimiterSettings {
  /** Whether the worker's slots have CPU limits. */
  readonly givesCpus: boolean;
  /** The path of util-linux's `taskset`; undefined when it does not exist. */
  readonly taskset: string | undefined;
}

/** The job for which a group is made. */
export interface GroupPlace {
  /** Unique on this machine. */
  readonly name: string;
  /** The job's own directory. Its path is in the job's environment when the job is not in a namespace. */
  readonly scratch: string;
  /** Whether its processes are in a pid namespace, and end when the first process of the namespace ends. */
  readonly inNamespace: boolean;
}

/** All processes of one job, and the resources that they use together. */
export interface ProcessGroup {
  /** Applies limits to the group, before it does any work that needs them. */
  limit(limits: Limits): Promise<void>;
  /** The prefix of the job's own command line, once limits are applied. */
  readonly before: readonly string[];
  /** Returns the command line that runs another one in the group. */
  commandLine(argv: readonly string[]): string[];
  /**
   * The files to which a new process can write "0" to join the group, in place of the command line; absent when the
   * command line does more.
   */
  readonly joinedBy?: readonly string[];
  /** Called once the process exists. */
  began(pid: number): void;
  /** Returns the group's processes by the numbers for signals, except a shell of the worker that waits for them. */
  members(): Promise<number[]>;
  /** Ends every process in the group with SIGKILL; resolves when it is empty. */
  kill(): Promise<void>;
  usage(): Promise<TreeUsage>;
  /** Returns the reason why it was ended, by the kernel or by the worker, or the resource that it lacked. */
  lack(end: GroupEnd): Promise<Lack>;
  /** Removes the group, which must be empty. */
  close(): Promise<void>;
}

/** Reads a `memory.stat` of either hierarchy, which counts both kinds of faults in `pgfault`. */
export function pagesIn(
  memoryStat: ReadonlyMap<string, number>,
): Pick<TreeUsage, "pageReclaims" | "pageFaults"> {
  const pageFaults = memoryStat.get("pgmajfault") ?? 0;
  return { pageReclaims: Math.max(0, (memoryStat.get("pgfault") ?? 0) - pageFaults), pageFaults };
}

/**
 * Returns the share of CPU time to which a group is limited; undefined when its CPU set suffices. An additional quota
 * would sometimes stop a group below its share, because the kernel counts in slices.
 */
export function quotaOf({ cpus, cpuSet }: Limits, holdsSet: boolean): number | undefined {
  return holdsSet && cpuSet?.length === cpus ? undefined : cpus;
}

/**
 * Returns a command that runs another one on some CPUs, when no control group can do this. Sets of CPUs are inherited;
 * unlike with a group, a program may extend its own.
 */
export function onCpus(
  taskset: string | undefined,
  cpuSet: readonly number[] | undefined,
): readonly string[] {
  if (taskset === undefined || cpuSet === undefined || cpuSet.length === 0) return [];
  return [taskset, "-c", cpuListText(cpuSet)];
}
