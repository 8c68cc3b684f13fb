import { cpuListText } from "./cpu-list.ts";
import type { LackOfMemory } from "./lack-of-memory.ts";

/** The resources that one job may use. */
export interface Limits {
  /** Unset: no limit. */
  readonly memoryBytes?: number;
  /** In cores; fractions are shares of time. Unset: no limit. */
  readonly cpus?: number;
  /** The CPUs that it runs on and sees; as many as `cpus` requires. Unset: any. */
  readonly cpuSet?: readonly number[];
  readonly processes: number;
  /** The limit for all outputs together. Unset: the limit of the worker. */
  readonly outputBytes?: number;
}

/** The resource that a job had too little of; undefined: none that is known. */
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
  /** Page faults without, and with, reading from a disk; 0 when they are not counted. */
  readonly pageReclaims: number;
  readonly pageFaults: number;
  /** Bytes from and to disks; 0 where they are not counted. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly measuredBy: "cgroup-v2" | "cgroup-v1" | "proc";
}

/** How a machine holds jobs to their limits and measures them. */
export interface Limiter {
  readonly kind: "cgroup-v2" | "cgroup-v1" | "proc";
  /** The limits that it can enforce, for people. */
  readonly can: readonly ("memory" | "cpus" | "CPU sets" | "processes" | "kill")[];
  open(place: GroupPlace): Promise<ProcessGroup>;
}

/** The requirements for a limiter. */
export interface LimiterSettings {
  /** Whether the worker's slots give CPUs. */
  readonly givesCpus: boolean;
  /** The program of util-linux, by its path; undefined where there is none. */
  readonly taskset: string | undefined;
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

/** All processes of one job, and the resources that they use together. */
export interface ProcessGroup {
  /** Holds the group to limits, before it does anything that needs them. */
  limit(limits: Limits): Promise<void>;
  /** The words before the job's own command, once it is limited. */
  readonly before: readonly string[];
  /** The command line that runs another one in the group. */
  commandLine(argv: readonly string[]): string[];
  /** Called once the process exists. */
  began(pid: number): void;
  /** The group's processes by their numbers for signals, apart from a shell of ours that waits for them. */
  members(): Promise<number[]>;
  /** Ends every process in the group with SIGKILL; resolves when it is empty. */
  kill(): Promise<void>;
  usage(): Promise<TreeUsage>;
  /** Returns the reason why it was ended, by the kernel or by the worker, or the resource that it lacked. */
  lack(end: GroupEnd): Promise<Lack>;
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

/**
 * The share of CPU time to limit a group to; undefined when its CPU set suffices. A quota in addition would sometimes
 * stop a group that is not over it, because the kernel counts in slices.
 */
export function quotaOf({ cpus, cpuSet }: Limits, holdsSet: boolean): number | undefined {
  return holdsSet && cpuSet?.length === cpus ? undefined : cpus;
}

/**
 * A command that runs another one on some CPUs, where no control group does it. Sets of CPUs are inherited;
 * unlike a group's, a program may widen its own.
 */
export function onCpus(
  taskset: string | undefined,
  cpuSet: readonly number[] | undefined,
): readonly string[] {
  if (taskset === undefined || cpuSet === undefined || cpuSet.length === 0) return [];
  return [taskset, "-c", cpuListText(cpuSet)];
}
