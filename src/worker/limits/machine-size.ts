import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { findCgroups } from "./cgroup-files.ts";
import { parseCpuList } from "./cpu-list.ts";
import type { MachineSize } from "./slot-share.ts";

/** Returns the resources that this process may use: in a container with a part of a machine, that part. */
export function machineSize(): MachineSize {
  const count = usableCpus().length;
  // 0 and 2^64 - 1 mean no limit.
  const constrained = process.constrainedMemory();
  const isLimited = constrained !== undefined && constrained > 0 && constrained < totalmem();
  return {
    cpus: Math.min(count, ownQuota() ?? count),
    memoryBytes: isLimited ? constrained : totalmem(),
  };
}

/** Returns the CPUs on which this process may run, by their numbers. */
export function usableCpus(): number[] {
  const status = text("/proc/self/status");
  const listed = parseCpuList(/^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? "");
  return listed.length > 0 ? listed : Array.from({ length: availableParallelism() }, (_, i) => i);
}

/** Returns the name of the core for each CPU. */
export function coresOf(cpus: readonly number[]): ReadonlyMap<number, string> {
  return new Map(
    cpus.map((cpu) => {
      const at = `/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`;
      return [cpu, text(at).trim() || `${cpu}`];
    }),
  );
}

/** Returns the smallest quota of CPU time, in CPUs, among the groups that contain this process. */
function ownQuota(): number | undefined {
  const { v1, v2 } = findCgroups();
  const quotas = [
    ...upwards(v2).map((at) => quotaOfV2(text(join(at, "cpu.max")))),
    ...upwards(v1.get("cpu")).map((at) =>
      quotaOfV1(text(join(at, "cpu.cfs_quota_us")), text(join(at, "cpu.cfs_period_us"))),
    ),
  ].filter((quota) => quota !== undefined);
  return quotas.length === 0 ? undefined : Math.min(...quotas);
}

/** From `cpu.max`: `150000 100000`, or `max 100000`. */
export function quotaOfV2(cpuMax: string): number | undefined {
  const [quota = "", period = ""] = cpuMax.trim().split(" ");
  return quotaOfV1(quota, period);
}

export function quotaOfV1(quotaUs: string, periodUs: string): number | undefined {
  const cpus = Number(quotaUs.trim()) / Number(periodUs.trim());
  return Number.isFinite(cpus) && cpus > 0 ? cpus : undefined;
}

function upwards(directory: string | undefined): string[] {
  if (directory === undefined) return [];
  const above = dirname(directory);
  return above === directory || above === "/sys/fs" ? [] : [directory, ...upwards(above)];
}

function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
