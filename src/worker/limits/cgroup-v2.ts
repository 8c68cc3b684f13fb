import { mkdirSync, writeFileSync } from "node:fs";
import { access, constants, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type CgroupMounts,
  inCgroups,
  killAllIn,
  numberIn,
  pidsIn,
  removeCgroup,
  sumOfDevices,
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

const wanted = ["memory", "cpu", "pids", "cpuset"] as const;
type Controller = (typeof wanted)[number];

/**
 * The maximum number of levels above this process's group in which to search for a parent. In a user's systemd session
 * it is one or two.
 */
const furthestUp = 4;

const cpuPeriodUs = 100_000;

/** Limits by control groups v2. Throws an error with the reason when they are not available. */
export async function cgroupV2Limiter(
  mounts: CgroupMounts,
  settings: LimiterSettings,
): Promise<Limiter> {
  const { parent, controllers } = await findParent(mounts.v2);
  return {
    kind: "cgroup-v2",
    can: [
      "memory",
      ...(controllers.has("cpu") ? (["cpus"] as const) : []),
      ...(controllers.has("cpuset") || settings.taskset !== undefined
        ? (["CPU sets"] as const)
        : []),
      ...(controllers.has("pids") ? (["processes"] as const) : []),
      "kill",
    ],
    async open({ name }) {
      const directory = join(parent, name);
      // Synchronously, as all groups are removed: see `removeCgroup`.
      mkdirSync(directory, { recursive: true });
      return processGroup(directory, controllers, settings);
    },
  };
}

/**
 * Finds the nearest group that may have child groups with a memory controller.
 *
 * A group that contains processes, such as the worker's own, cannot pass controllers to child groups. Its parent can:
 * then the groups of jobs are siblings of the worker's own.
 */
async function findParent(
  own: string | undefined,
): Promise<{ parent: string; controllers: Set<Controller> }> {
  if (own === undefined) throw new Error("no cgroup v2 is mounted");
  let at = own;
  for (let up = 0; up < furthestUp; up++) {
    const offered = await words(join(at, "cgroup.controllers"));
    const usable = wanted.filter((controller) => offered.has(controller));
    if (usable.includes("memory")) {
      // One by one, because a kernel that refuses one of several controllers refuses all.
      for (const controller of usable) {
        await writeFile(join(at, "cgroup.subtree_control"), `+${controller}`).catch(() => {});
      }
      const enabled = await words(join(at, "cgroup.subtree_control"));
      const mayMove = await isWritable(join(at, "cgroup.procs"));
      if (enabled.has("memory") && mayMove && (await canHold(at))) {
        return { parent: at, controllers: new Set(usable.filter((name) => enabled.has(name))) };
      }
    }
    at = dirname(at);
  }
  throw new Error("no group may be made that has a memory controller");
}

/** Returns whether a group can be created there. */
async function canHold(directory: string): Promise<boolean> {
  const probe = join(directory, `grange-probe-${process.pid}`);
  const made = await mkdir(probe).then(
    () => true,
    () => false,
  );
  if (made) await removeCgroup(probe);
  return made;
}

/** Returns the settings of a group as files and their values; a kernel may lack optional files. */
export function settingsOf(
  limits: Limits,
  controllers: ReadonlySet<string>,
): { readonly file: string; readonly text: string; readonly optional: boolean }[] {
  const must = (file: string, text: string) => ({ file, text, optional: false });
  const may = (file: string, text: string) => ({ file, text, optional: true });
  const { memoryBytes, cpuSet, processes } = limits;
  const quota = controllers.has("cpu")
    ? quotaOf(limits, controllers.has("cpuset") && cpuSet !== undefined)
    : undefined;
  return [
    ...(memoryBytes === undefined
      ? []
      : [
          must("memory.max", `${memoryBytes}`),
          may("memory.swap.max", "0"),
          // A process tree that lost one of its processes may wait for it forever.
          may("memory.oom.group", "1"),
        ]),
    ...(controllers.has("cpuset") && cpuSet !== undefined
      ? [must("cpuset.cpus", cpuListText(cpuSet))]
      : []),
    ...(quota === undefined
      ? []
      : [must("cpu.max", `${Math.max(1_000, Math.round(quota * cpuPeriodUs))} ${cpuPeriodUs}`)]),
    ...(controllers.has("pids") ? [must("pids.max", `${processes}`)] : []),
  ];
}

function setLimits(directory: string, controllers: ReadonlySet<string>, limits: Limits): void {
  for (const { file, text, optional } of settingsOf(limits, controllers)) {
    try {
      writeFileSync(join(directory, file), text);
    } catch (reason) {
      if (!optional) throw reason;
    }
  }
}

function processGroup(
  directory: string,
  controllers: ReadonlySet<Controller>,
  { taskset }: LimiterSettings,
): ProcessGroup {
  const file = (name: string) => join(directory, name);
  const kill = () => killAllIn(directory, file("cgroup.kill"));
  const kills = () => valueIn(file("memory.events"), "oom_kill");
  // Linux 5.19 and later have this file.
  const kernelPeak = () => numberIn(file("memory.peak"));
  const statOf = () => valuesIn(file("memory.stat"));
  const sampleIn = (stat: ReadonlyMap<string, number>) =>
    sampleOf(stat, numberIn(file("memory.current")));
  const sample = () => sampleIn(statOf());
  const watch = new GroupWatch({ sample, kills, kill });
  let limitBytes: number | undefined;
  let before: readonly string[] = [];
  return {
    async limit(limits) {
      limitBytes = limits.memoryBytes;
      setLimits(directory, controllers, limits);
      if (!controllers.has("cpuset")) before = onCpus(taskset, limits.cpuSet);
    },
    get before() {
      return before;
    },
    commandLine: (argv) => inCgroups([directory], argv),
    joinedBy: [file("cgroup.procs")],
    began: () => watch.begin(),
    members: () => pidsIn(directory),
    kill,
    async usage() {
      const cpu = valuesIn(file("cpu.stat"));
      // The kernel sums it over all CPUs at each reading.
      const stat = statOf();
      return {
        userMs: (cpu.get("user_usec") ?? 0) / 1e3,
        systemMs: (cpu.get("system_usec") ?? 0) / 1e3,
        peakMemoryBytes: watch.peakBytes(kernelPeak(), sampleIn(stat)),
        ...pagesIn(stat),
        readBytes: sumOfDevices(file("io.stat"), "rbytes"),
        writtenBytes: sumOfDevices(file("io.stat"), "wbytes"),
        measuredBy: "cgroup-v2",
      };
    },
    lack: async (end) => {
      // A group that reached its own limit is reported separately from a machine without free memory.
      const cameToLimit = valueIn(file("memory.events"), "oom") > 0;
      return lackOfMemory({
        ...end,
        kills: kills(),
        killsOnMachine: 0,
        endedByWatch: false,
        peakBytes: cameToLimit ? (limitBytes ?? 0) : kernelPeak(),
        limitBytes,
        machineBytes: Infinity,
      });
    },
    close: () => {
      watch.end();
      return removeCgroup(directory);
    },
  };
}

/** Parses the text of a `memory.stat`, and `memory.current`. */
export function sampleOf(stat: ReadonlyMap<string, number>, chargedBytes: number): MemorySample {
  const held = ["anon", "shmem", "kernel_stack", "pagetables", "slab_unreclaimable", "sock"];
  return { chargedBytes, heldBytes: held.reduce((sum, key) => sum + (stat.get(key) ?? 0), 0) };
}

async function words(path: string): Promise<Set<string>> {
  const text = await readFile(path, "utf8").catch(() => "");
  return new Set(text.trim().split(/\s+/));
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
