import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { rest } from "#core/resting.ts";
import { startTimeOf } from "#machine/owner.ts";
import { processNumbers } from "#machine/process-numbers.ts";
import { quoteForShell } from "../quote-for-shell.ts";
import { firstToEnd, killQuietly } from "./cgroup-files.ts";
import { lackOfMemory } from "./lack-of-memory.ts";
import {
  type GroupPlace,
  type Limiter,
  type LimiterSettings,
  onCpus,
  type ProcessGroup,
} from "./limits.ts";
import { machineSize } from "./machine-size.ts";
import { nextLookMs } from "./memory-pace.ts";
import { killsOnMachine } from "./process-memory.ts";
import { processesMarked, ticksPerSecond } from "./process-tree.ts";
import { TreeLook } from "./tree-look.ts";
import { memoryOfTree } from "./tree-memory.ts";

/** Between two looks for processes that are to end. */
const killLookMs = 5;

/**
 * Limits without control groups: we look at /proc, the more often the nearer a tree is to its memory.
 *
 * A tree over its memory is ended by us, a little late. No rlimit does it: those of address space and
 * data count what a JVM, Go, V8 or a sanitizer sets aside and never touches, and each process alone.
 * CPU time is the larger of what the shell's `times` counted of all that was waited for, and what we saw
 * process by process: a sandbox may end without waiting for its last one. Processes that left the
 * tree are known by having been seen in it, or by their environment.
 */
export function procLimiter(settings: LimiterSettings): Limiter {
  return {
    kind: "proc",
    can: ["memory", ...(settings.taskset === undefined ? [] : (["CPU sets"] as const)), "kill"],
    open: async (place) => watchedTree(place, settings),
  };
}

function watchedTree(
  { scratch, inNamespace }: GroupPlace,
  settings: LimiterSettings,
): ProcessGroup {
  let limitBytes = Infinity;
  let mostProcesses = Infinity;
  let before: readonly string[] = [];
  const timesFile = join(scratch, "times");
  const ticks = new Map<string, { readonly user: number; readonly system: number }>();
  const numbers = processNumbers();
  let root = 0;
  let tree = new TreeLook(root);
  let peak = 0;
  let endedFor: "memory" | "processes" | undefined;
  let killsBefore = 0;
  let beganAt = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const look = () => {
    const members = tree.look();
    for (const { pid, startTime, userTicks, systemTicks } of members) {
      ticks.set(`${pid} ${startTime}`, { user: userTicks, system: systemTicks });
    }
    const read = (of: typeof members) =>
      memoryOfTree(
        of.map(({ pid }) => pid),
        { hasOwnFiles: inNamespace, limitBytes },
      );
    let held = read(members);
    // Processes are read one after the other: of one that forks meanwhile, pages are counted as its own and as its children's.
    if (held > limitBytes) held = Math.min(held, read(tree.look()));
    peak = Math.max(peak, held);
    if (held > limitBytes) endedFor ??= "memory";
    else if (members.length > mostProcesses) endedFor ??= "processes";
    return { held, isCrowded: members.length > mostProcesses / 4 };
  };
  const lookAndGoOn = () => {
    if (isClosed) return;
    const startedAt = performance.now();
    const { held, isCrowded } = look();
    if (endedFor !== undefined) {
      void kill().catch(() => {});
      return;
    }
    const lookCostMs = performance.now() - startedAt;
    // What is soon over is looked at soon, for its peak and its time.
    const soonMs = Math.max(5, performance.now() - beganAt);
    timer = setTimeout(
      lookAndGoOn,
      Math.min(soonMs, nextLookMs({ heldBytes: held, limitBytes, lookCostMs, isCrowded })),
    );
  };
  const kill = async () => {
    if (root !== 0) killQuietly(-root);
    // The sandbox was in that process group, and its namespace goes with it.
    if (inNamespace) return;
    const marked = new Map<number, string>();
    // A process that is just executing another program shows no environment: two looks must find nothing.
    for (let round = 0, emptyRounds = 0; round < 20 && emptyRounds < 2; round++) {
      if (round > 0) await rest(killLookMs);
      tree.look();
      for (const pid of await processesMarked(scratch)) marked.set(pid, startTimeOf(pid) ?? "");
      const left = [...tree.seen, ...marked].filter(([pid, since]) => startTimeOf(pid) === since);
      emptyRounds = left.length === 0 ? emptyRounds + 1 : 0;
      for (const [pid] of left) {
        const number = numbers.ofSignals(pid);
        if (number !== undefined) killQuietly(number);
      }
    }
  };

  return {
    async limit(limits) {
      limitBytes = limits.memoryBytes ?? Infinity;
      mostProcesses = limits.processes;
      before = onCpus(settings.taskset, limits.cpuSet);
    },
    get before() {
      return before;
    },
    commandLine(argv) {
      // What a shell prints when a signal ends the command is not for the job's log.
      const run = 'exec 3>&2 2>/dev/null; (exec 2>&3 3>&-; exec "$@"); c=$?';
      const script = `${firstToEnd}; ${run}; times >${quoteForShell(timesFile)}; exit $c`;
      return ["sh", "-c", script, "sh", ...argv];
    },
    began(pid) {
      root = pid;
      tree = new TreeLook(numbers.inProc(pid) ?? 0);
      killsBefore = killsOnMachine();
      beganAt = performance.now();
      lookAndGoOn();
    },
    members: async () => {
      look();
      return tree
        .look()
        .flatMap(({ pid }) => numbers.ofSignals(pid) ?? [])
        .filter((pid) => pid !== root);
    },
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
    async lack(end) {
      if (endedFor === "processes") return "processes";
      return lackOfMemory({
        ...end,
        kills: undefined,
        killsOnMachine: killsOnMachine() - killsBefore,
        endedByWatch: endedFor === "memory",
        peakBytes: peak,
        limitBytes: limitBytes === Infinity ? undefined : limitBytes,
        machineBytes: machineSize().memoryBytes,
      });
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** `1m2.340s`, as POSIX has `times` print it, in milliseconds. */
export function parseTimes(text: string): number {
  const [, minutes = "0", seconds = "0"] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return Number(minutes) * 60_000 + Number(seconds) * 1_000;
}
