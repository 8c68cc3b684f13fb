import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { findCgroups } from "../src/worker/limits/cgroup-files.ts";

/** The processes that start in a control group, and all of their children. */
interface CpuGroup {
  /** A program with arguments; it runs the command line that follows them in the group. */
  readonly within: readonly string[];
  /** CPU time of all processes that were in it so far, also of those that ended, in ms. */
  usedMs(): number;
  /** Removes the group when its processes have ended. */
  remove(): void;
}

/** Why this machine has no such groups; undefined when it has. */
export function whyNoCpuGroups(): string | undefined {
  const directory = findCgroups().v1.get("cpuacct");
  if (directory === undefined) return "no control group v1 with cpuacct is mounted";
  try {
    openCpuGroup("probe").remove();
    return undefined;
  } catch {
    return `${directory} is not writable`;
  }
}

/**
 * Makes a group of the hierarchy `cpuacct`. Workers make the groups of their jobs below their own, so it counts them.
 * Sums over /proc would lack the processes whose parents end first, such as those of sandboxes.
 */
export function openCpuGroup(name: string): CpuGroup {
  const group = join(findCgroups().v1.get("cpuacct") ?? "", `bench-${process.pid}-${name}`);
  mkdirSync(group);
  return {
    within: ["sh", "-c", `echo 0 >'${group}/cgroup.procs' && exec "$@"`, "sh"],
    usedMs: () => Number(readFileSync(join(group, "cpuacct.usage"), "utf8")) / 1e6,
    remove: () => rmdirSync(group),
  };
}

const ticksPerSecond = 100;

/** CPU time of one process with all its threads, without its children, in ms. */
export function cpuOfProcessMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}
