import { writeFileSync } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type CgroupMounts,
  inCgroups,
  killAllIn,
  numberIn,
  pidsIn,
  removeCgroup,
  valueIn,
  valuesIn,
} from "./cgroup-files.ts";
import { type Limiter, type Limits, type ProcessGroup, pagesIn } from "./limits.ts";

/** Those that we use. `memory` and `cpuacct` measure, and are a must. */
const controllers = ["memory", "cpuacct", "cpu", "pids"] as const;
type Controller = (typeof controllers)[number];

const cpuPeriodUs = 100_000;

/**
 * Limits by the control groups of before 2016, which much of the world still has.
 *
 * A v2 hierarchy beside them, though without controllers, lends its `cgroup.kill`.
 */
export async function cgroupV1Limiter(mounts: CgroupMounts): Promise<Limiter> {
  const at = new Map<Controller, string>();
  for (const controller of controllers) {
    const directory = mounts.v1.get(controller);
    if (directory && (await isWritable(directory))) at.set(controller, directory);
  }
  if (!at.has("memory") || !at.has("cpuacct")) throw new Error("memory or cpuacct is not writable");
  const v2 = mounts.v2 && (await isWritable(mounts.v2)) ? mounts.v2 : undefined;
  return {
    kind: "cgroup-v1",
    can: [
      "memory",
      ...(at.has("cpu") ? (["cpus"] as const) : []),
      ...(at.has("pids") ? (["processes"] as const) : []),
      "kill",
    ],
    async open({ name }) {
      // cpu and cpuacct are often one hierarchy under two names.
      const groups = new Map([...at].map(([key, directory]) => [key, join(directory, name)]));
      const unified = v2 && join(v2, name);
      const all = [...new Set([...groups.values(), ...(unified ? [unified] : [])])];
      await Promise.all(all.map((directory) => mkdir(directory, { recursive: true })));
      return processGroup(groups, unified, all);
    },
  };
}

async function setLimits(groups: ReadonlyMap<Controller, string>, limits: Limits): Promise<void> {
  const set = (controller: Controller, file: string, value: number) => {
    const directory = groups.get(controller);
    if (directory !== undefined) writeFileSync(join(directory, file), `${value}`);
  };
  if (limits.memoryBytes !== undefined) {
    set("memory", "memory.limit_in_bytes", limits.memoryBytes);
    // Without it, what is over the limit goes to swap. Not every kernel counts swap.
    try {
      set("memory", "memory.memsw.limit_in_bytes", limits.memoryBytes);
    } catch {
      // Then the first limit is all there is.
    }
  }
  if (limits.cpus !== undefined) {
    set("cpu", "cpu.cfs_period_us", cpuPeriodUs);
    set("cpu", "cpu.cfs_quota_us", Math.max(1_000, Math.round(limits.cpus * cpuPeriodUs)));
  }
  set("pids", "pids.max", limits.processes);
}

function processGroup(
  groups: ReadonlyMap<Controller, string>,
  unified: string | undefined,
  all: readonly string[],
): ProcessGroup {
  const memory = groups.get("memory") ?? "";
  const cpu = groups.get("cpuacct") ?? "";
  return {
    limit: (limits) => setLimits(groups, limits),
    // The memory group is the list of members: what is moved there was born there.
    commandLine: (argv) => inCgroups(all, argv),
    began: () => {},
    members: () => pidsIn(memory),
    kill: () => killAllIn(memory, unified && join(unified, "cgroup.kill")),
    async usage() {
      const [user, system, peak, memoryStat] = await Promise.all([
        numberIn(join(cpu, "cpuacct.usage_user")),
        numberIn(join(cpu, "cpuacct.usage_sys")),
        numberIn(join(memory, "memory.max_usage_in_bytes")),
        valuesIn(join(memory, "memory.stat")),
      ]);
      return {
        userMs: user / 1e6,
        systemMs: system / 1e6,
        peakMemoryBytes: peak,
        ...pagesIn(memoryStat),
        readBytes: 0,
        writtenBytes: 0,
        measuredBy: "cgroup-v1",
      };
    },
    ranOutOfMemory: async () => (await valueIn(join(memory, "memory.oom_control"), "oom_kill")) > 0,
    close: async () => {
      await Promise.all(all.map(removeCgroup));
    },
  };
}

async function isWritable(directory: string): Promise<boolean> {
  const probe = join(directory, `grange-probe-${process.pid}`);
  try {
    await mkdir(probe);
    await rmdir(probe);
    return true;
  } catch {
    return false;
  }
}
