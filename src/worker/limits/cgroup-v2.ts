import { writeFileSync } from "node:fs";
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
import { type Limiter, type Limits, type ProcessGroup, pagesIn } from "./limits.ts";

const wanted = ["memory", "cpu", "pids"] as const;
type Controller = (typeof wanted)[number];

/** How far up we look for a place. In a user's systemd session it is one or two. */
const furthestUp = 4;

const cpuPeriodUs = 100_000;

/** Limits by control groups v2. Throws, with the reason, where they cannot be had. */
export async function cgroupV2Limiter(mounts: CgroupMounts): Promise<Limiter> {
  const { parent, controllers } = await findParent(mounts.v2);
  return {
    kind: "cgroup-v2",
    can: [
      "memory",
      ...(controllers.has("cpu") ? (["cpus"] as const) : []),
      ...(controllers.has("pids") ? (["processes"] as const) : []),
      "kill",
    ],
    async open({ name }) {
      const directory = join(parent, name);
      await mkdir(directory, { recursive: true });
      return processGroup(directory, controllers);
    },
  };
}

/**
 * The nearest group that may have groups with a memory controller below it.
 *
 * A group with processes in it, as our own, cannot hand controllers down. Its
 * parent can: then ours are siblings of our own.
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
      const enable = usable.map((controller) => `+${controller}`).join(" ");
      await writeFile(join(at, "cgroup.subtree_control"), enable).catch(() => {});
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

/** Whether a group can be made there. */
async function canHold(directory: string): Promise<boolean> {
  const probe = join(directory, `grange-probe-${process.pid}`);
  const made = await mkdir(probe).then(
    () => true,
    () => false,
  );
  if (made) await removeCgroup(probe);
  return made;
}

async function setLimits(
  directory: string,
  controllers: ReadonlySet<Controller>,
  limits: Limits,
): Promise<void> {
  const set = (file: string, value: string) => writeFileSync(join(directory, file), value);
  if (limits.memoryBytes !== undefined) {
    set("memory.max", `${limits.memoryBytes}`);
    try {
      set("memory.swap.max", "0");
    } catch {
      // Not every kernel counts swap.
    }
  }
  if (limits.cpus !== undefined && controllers.has("cpu")) {
    const quota = Math.max(1_000, Math.round(limits.cpus * cpuPeriodUs));
    set("cpu.max", `${quota} ${cpuPeriodUs}`);
  }
  if (controllers.has("pids")) set("pids.max", `${limits.processes}`);
}

function processGroup(directory: string, controllers: ReadonlySet<Controller>): ProcessGroup {
  const file = (name: string) => join(directory, name);
  return {
    limit: (limits) => setLimits(directory, controllers, limits),
    commandLine: (argv) => inCgroups([directory], argv),
    began: () => {},
    members: () => pidsIn(directory),
    kill: () => killAllIn(directory, file("cgroup.kill")),
    async usage() {
      const [cpu, peak, memoryStat, readBytes, writtenBytes] = await Promise.all([
        valuesIn(file("cpu.stat")),
        numberIn(file("memory.peak")),
        valuesIn(file("memory.stat")),
        sumOfDevices(file("io.stat"), "rbytes"),
        sumOfDevices(file("io.stat"), "wbytes"),
      ]);
      return {
        userMs: (cpu.get("user_usec") ?? 0) / 1e3,
        systemMs: (cpu.get("system_usec") ?? 0) / 1e3,
        peakMemoryBytes: peak,
        ...pagesIn(memoryStat),
        readBytes,
        writtenBytes,
        measuredBy: "cgroup-v2",
      };
    },
    ranOutOfMemory: async () => (await valueIn(file("memory.events"), "oom_kill")) > 0,
    close: () => removeCgroup(directory),
  };
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
