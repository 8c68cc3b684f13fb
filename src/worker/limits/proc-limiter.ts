import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startTimeOf } from "../owner.ts";
import { quoteForShell } from "../quote-for-shell.ts";
import { killQuietly } from "./cgroup-files.ts";
import type { GroupPlace, Limiter, ProcessGroup } from "./limits.ts";
import { descendantsOf, listProcesses, processesMarked, ticksPerSecond } from "./process-tree.ts";

const lookEveryMs = 100;

/**
 * Limits without control groups: we look at /proc ten times a second.
 *
 * A tree over its memory is ended by us, a little late. CPU time is the larger of
 * what the shell's `times` counted of all that was waited for, and what we saw
 * process by process: a sandbox may end without waiting for its last one. Processes that left the
 * tree are known by having been seen in it, or by their environment.
 */
export function procLimiter(): Limiter {
  return {
    kind: "proc",
    can: ["memory", "kill"],
    open: async (place) => watchedTree(place),
  };
}

function watchedTree({ scratch, inNamespace }: GroupPlace): ProcessGroup {
  let memoryBytes = Infinity;
  const timesFile = join(scratch, "times");
  const seen = new Map<number, string>();
  const ticks = new Map<string, { readonly user: number; readonly system: number }>();
  let root = 0;
  let peak = 0;
  let killedForMemory = false;
  let looking = Promise.resolve();

  const look = async () => {
    const tree = descendantsOf(root, await listProcesses());
    for (const { pid, startTime, userTicks, systemTicks } of tree) {
      seen.set(pid, startTime);
      ticks.set(`${pid} ${startTime}`, { user: userTicks, system: systemTicks });
    }
    const resident = tree.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
    peak = Math.max(peak, resident);
    if (resident <= memoryBytes) return;
    killedForMemory = true;
    await kill();
  };
  const alive = () => [...seen].filter(([pid, since]) => startTimeOf(pid) === since);
  const kill = async () => {
    if (root !== 0) killQuietly(-root);
    // The sandbox was in that process group, and its namespace goes with it.
    if (inNamespace) return;
    for (let round = 0; round < 5; round++) {
      for (const { pid, startTime } of descendantsOf(root, await listProcesses())) {
        seen.set(pid, startTime);
      }
      for (const pid of await processesMarked(scratch)) seen.set(pid, startTimeOf(pid) ?? "");
      const left = alive();
      if (left.length === 0) return;
      for (const [pid] of left) killQuietly(pid);
    }
  };
  let timer: NodeJS.Timeout | undefined;

  return {
    async limit(limits) {
      memoryBytes = limits.memoryBytes ?? Infinity;
    },
    commandLine(argv) {
      const script = `"$@"; c=$?; times >${quoteForShell(timesFile)}; exit $c`;
      return ["sh", "-c", script, "sh", ...argv];
    },
    began(pid) {
      root = pid;
      looking = look().catch(() => {});
      timer = setInterval(() => {
        looking = looking.then(look).catch(() => {});
      }, lookEveryMs);
    },
    members: async () =>
      descendantsOf(root, await listProcesses())
        .map(({ pid }) => pid)
        .filter((pid) => pid !== root),
    kill,
    async usage() {
      const [, children = ""] = (await readFile(timesFile, "utf8").catch(() => "")).split("\n");
      const [userMs = 0, systemMs = 0] = children.split(" ").map(parseTimes);
      const seenMs = (part: "user" | "system") =>
        [...ticks.values()].reduce((sum, each) => sum + (each[part] * 1_000) / ticksPerSecond, 0);
      return {
        userMs: Math.max(userMs, seenMs("user")),
        systemMs: Math.max(systemMs, seenMs("system")),
        peakMemoryBytes: peak,
        pageReclaims: 0,
        pageFaults: 0,
        readBytes: 0,
        writtenBytes: 0,
        measuredBy: "proc",
      };
    },
    ranOutOfMemory: async () => killedForMemory,
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}

/** `1m2.340s`, as POSIX has `times` print it, in milliseconds. */
export function parseTimes(text: string): number {
  const [, minutes = "0", seconds = "0"] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return Number(minutes) * 60_000 + Number(seconds) * 1_000;
}
