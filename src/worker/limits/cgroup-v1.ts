import { mkdirSync, writeFileSync } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type CgroupMounts,
  inCgroups,
  killAllIn,
  numberIn,
  pidsIn,
  removeCgroup,
  textIn,
  valueIn,
  valuesIn,
} from "./cgroup-files.ts";
import { cpuListText } from "./cpu-list.ts";
import { GroupWatch } from "./group-watch.ts";
import type { MemorySample } from "./held-peak.ts";
import { lackOfMemory } from "./lack-of-memory.ts";
import {
  type Limiter,
  type LimiterSettings,
  type Limits,
  onCpus,
  type ProcessGroup,
  pagesIn,
  quotaOf,
} from "./limits.ts";

/** The controllers that the worker uses. `memory` and `cpuacct` measure, and are required. */
const controllers = ["memory", "cpuacct", "cpu", "pids", "cpuset"] as const;
type Controller = (typeof controllers)[number];

const cpuPeriodUs = 100_000;

/**
 * Limits by control groups v1, which are from before 2016 and still common.
 *
 * If a v2 hierarchy also exists, even without controllers, its `cgroup.kill` is used.
 */
export async function cgroupV1Limiter(
  mounts: CgroupMounts,
  settings: LimiterSettings,
): Promise<Limiter> {
  const at = new Map<Controller, string>();
  for (const controller of controllers) {
    // Each hierarchy has a cost at every start, and this one is only useful for slots with their own CPUs.
    if (controller === "cpuset" && !settings.givesCpus) continue;
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
      ...(at.has("cpuset") || settings.taskset !== undefined ? (["CPU sets"] as const) : []),
      ...(at.has("pids") ? (["processes"] as const) : []),
      "kill",
    ],
    async open({ name, inNamespace }) {
      // cpu and cpuacct are often one hierarchy under two names.
      const groups = new Map([...at].map(([key, directory]) => [key, join(directory, name)]));
      // The kernel ends a pid namespace with its first process.
      const unified = inNamespace ? undefined : v2 && join(v2, name);
      const all = [...new Set([...groups.values(), ...(unified ? [unified] : [])])];
      // Synchronously, as all groups are removed: see `removeCgroup`.
      for (const directory of all) mkdirSync(directory, { recursive: true });
      const [sets, above] = [groups.get("cpuset"), at.get("cpuset")];
      // A process cannot join a group with an empty CPU set, which a new group has.
      if (sets !== undefined && above !== undefined) {
        for (const file of ["cpuset.cpus", "cpuset.mems"]) {
          writeFileSync(join(sets, file), textIn(join(above, file)).trim());
        }
      }
      return processGroup(groups, unified, all, settings);
    },
  };
}

function setLimits(groups: ReadonlyMap<Controller, string>, limits: Limits): void {
  const set = (controller: Controller, file: string, value: number | string) => {
    const directory = groups.get(controller);
    if (directory !== undefined) writeFileSync(join(directory, file), `${value}`);
  };
  if (limits.memoryBytes !== undefined) {
    set("memory", "memory.limit_in_bytes", limits.memoryBytes);
    // Without it, memory above the limit is swapped out. Not every kernel counts swap.
    try {
      set("memory", "memory.memsw.limit_in_bytes", limits.memoryBytes);
    } catch {
      // Then only the first limit exists.
    }
  }
  if (limits.cpuSet !== undefined) set("cpuset", "cpuset.cpus", cpuListText(limits.cpuSet));
  const quota = quotaOf(limits, groups.has("cpuset"));
  if (quota !== undefined) {
    set("cpu", "cpu.cfs_period_us", cpuPeriodUs);
    set("cpu", "cpu.cfs_quota_us", Math.max(1_000, Math.round(quota * cpuPeriodUs)));
  }
  set("pids", "pids.max", limits.processes);
}

function processGroup(
  groups: ReadonlyMap<Controller, string>,
  unified: string | undefined,
  all: readonly string[],
  { taskset }: LimiterSettings,
): ProcessGroup {
  const memory = groups.get("memory") ?? "";
  const cpu = groups.get("cpuacct") ?? "";
  const kill = () => killAllIn(memory, unified && join(unified, "cgroup.kill"));
  const kills = () => valueIn(join(memory, "memory.oom_control"), "oom_kill");
  const kernelPeak = () => numberIn(join(memory, "memory.max_usage_in_bytes"));
  const statOf = () => valuesIn(join(memory, "memory.stat"));
  const watch = new GroupWatch({ sample: () => sampleOf(memory, statOf()), kills, kill });
  let limitBytes: number | undefined;
  let before: readonly string[] = [];
  return {
    async limit(limits) {
      limitBytes = limits.memoryBytes;
      setLimits(groups, limits);
      if (!groups.has("cpuset")) before = onCpus(taskset, limits.cpuSet);
    },
    get before() {
      return before;
    },
    // The memory group has the list of members: processes that are moved into the others are created in it.
    commandLine: (argv) => inCgroups(all, argv),
    joinedBy: all.map((directory) => join(directory, "cgroup.procs")),
    began: () => watch.begin(),
    members: () => pidsIn(memory),
    kill,
    async usage() {
      // The kernel sums it over all CPUs at each reading.
      const stat = statOf();
      return {
        userMs: numberIn(join(cpu, "cpuacct.usage_user")) / 1e6,
        systemMs: numberIn(join(cpu, "cpuacct.usage_sys")) / 1e6,
        peakMemoryBytes: watch.peakBytes(kernelPeak(), sampleOf(memory, stat)),
        ...pagesIn(stat),
        readBytes: 0,
        writtenBytes: 0,
        measuredBy: "cgroup-v1",
      };
    },
    lack: async (end) =>
      lackOfMemory({
        ...end,
        kills: kills(),
        killsOnMachine: 0,
        endedByWatch: false,
        peakBytes: kernelPeak(),
        limitBytes,
        machineBytes: Infinity,
      }),
    close: async () => {
      watch.end();
      await Promise.all(all.map(removeCgroup));
    },
  };
}

function sampleOf(memory: string, stat: ReadonlyMap<string, number>): MemorySample {
  const of = (key: string) => stat.get(`total_${key}`) ?? 0;
  return {
    chargedBytes: numberIn(join(memory, "memory.usage_in_bytes")),
    heldBytes: of("rss") + of("shmem") + of("swap"),
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
