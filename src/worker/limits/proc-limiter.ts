import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { rest } from "#core/resting.ts";
import { startTimeOf } from "#machine/owner.ts";
import { processNumbers } from "#machine/process-numbers.ts";
import { quoteForShell } from "../quote-for-shell.ts";
import { endFirstWhenOutOfMemory, killQuietly } from "./cgroup-files.ts";
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
import { ProcessTreeScan } from "./process-tree-scan.ts";
import { memoryOfTree } from "./tree-memory.ts";

/** The pause between two rounds of killing, in ms. */
const killLookMs = 5;

/**
 * Limits without control groups: the worker reads /proc, more often when a tree is near its memory limit.
 *
 * The worker kills a tree over its limit, a little late. An rlimit cannot do this: the limits of address space and data
 * count memory that a JVM, Go, V8 or a sanitizer reserves and never uses, and count each process alone. CPU time is the
 * larger of two values: the shell's `times`, which counts the processes that were waited for, and the sum of the times
 * observed for each process, because a sandbox may end without waiting for its last process. Processes that left the
 * tree are recognised because they were in it before, or by their environment.
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
  let tree = new ProcessTreeScan(root);
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
    const held = memoryHeld(tree, members, { hasOwnFiles: inNamespace, limitBytes });
    peak = Math.max(peak, held);
    if (held > limitBytes) endedFor ??= "memory";
    else if (members.length > mostProcesses) endedFor ??= "processes";
    return { held, isCrowded: members.length > mostProcesses / 4 };
  };
  const lookAndGoOn = () => {
    if (isClosed) return;
    const startedAt = performance.now();
    const { held, isCrowded } = look();
    if (endedFor !== undefined) return void kill().catch(() => {});
    const lookCostMs = performance.now() - startedAt;
    // A short-lived tree is read soon after its start; otherwise its peak would be missed.
    const soonMs = Math.max(5, performance.now() - beganAt);
    const delayMs = nextLookMs({ heldBytes: held, limitBytes, lookCostMs, isCrowded });
    timer = setTimeout(lookAndGoOn, Math.min(soonMs, delayMs));
  };
  const kill = async () => {
    if (root !== 0) killQuietly(-root);
    // The sandbox was in that process group, and its namespace ends with it.
    if (!inNamespace) await killTree(tree, scratch, (pid) => numbers.ofSignals(pid));
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
      return timedCommand(argv, timesFile);
    },
    began(pid) {
      root = pid;
      tree = new ProcessTreeScan(numbers.inProc(pid) ?? 0);
      killsBefore = killsOnMachine();
      beganAt = performance.now();
      lookAndGoOn();
    },
    members: async () => {
      look();
      const members = tree.look().flatMap(({ pid }) => numbers.ofSignals(pid) ?? []);
      return members.filter((pid) => pid !== root);
    },
    kill,
    async usage() {
      return {
        ...(await cpuTime(timesFile, [...ticks.values()])),
        ...notCounted,
        peakMemoryBytes: peak,
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

const notCounted = { pageReclaims: 0, pageFaults: 0, readBytes: 0, writtenBytes: 0 };

/** Returns the bytes of memory that the processes of a tree use together. */
function memoryHeld(
  tree: ProcessTreeScan,
  members: readonly { readonly pid: number }[],
  options: Parameters<typeof memoryOfTree>[1],
): number {
  const read = (of: typeof members) =>
    memoryOfTree(
      of.map(({ pid }) => pid),
      options,
    );
  const held = read(members);
  // Processes are read one after the other. When one forks meanwhile, its pages count twice, so they are read again
  // before the tree is killed.
  return held > options.limitBytes ? Math.min(held, read(tree.look())) : held;
}

/**
 * Kills all processes of a tree, also those that left it, until two rounds find none. `scratch` identifies their
 * environments.
 */
async function killTree(
  tree: ProcessTreeScan,
  scratch: string,
  numberOfSignals: (pid: number) => number | undefined,
): Promise<void> {
  const marked = new Map<number, string>();
  // During exec, a process has no visible environment, so one empty round is not enough.
  for (let round = 0, emptyRounds = 0; round < 20 && emptyRounds < 2; round++) {
    if (round > 0) await rest(killLookMs);
    tree.look();
    for (const pid of await processesMarked(scratch)) marked.set(pid, startTimeOf(pid) ?? "");
    const left = [...tree.seen, ...marked].filter(([pid, since]) => startTimeOf(pid) === since);
    emptyRounds = left.length === 0 ? emptyRounds + 1 : 0;
    for (const [pid] of left) {
      const number = numberOfSignals(pid);
      if (number !== undefined) killQuietly(number);
    }
  }
}

/** Returns a command line that runs `argv` in a shell, which writes the CPU time of its children to a file. */
function timedCommand(argv: readonly string[], timesFile: string): string[] {
  // The shell's message about a signal that ended the command must not get into the log of the job.
  const run = 'exec 3>&2 2>/dev/null; (exec 2>&3 3>&-; exec "$@"); c=$?';
  const script = `${endFirstWhenOutOfMemory}; ${run}; times >${quoteForShell(timesFile)}; exit $c`;
  return ["sh", "-c", script, "sh", ...argv];
}

/**
 * Returns the larger of the CPU time that the shell counted and the sum of the times observed for each process, in ms.
 */
async function cpuTime(
  timesFile: string,
  seen: readonly { readonly user: number; readonly system: number }[],
): Promise<{ readonly userMs: number; readonly systemMs: number }> {
  const [, children = ""] = (await readFile(timesFile, "utf8").catch(() => "")).split("\n");
  const [userMs = 0, systemMs = 0] = children.split(" ").map(parseTimes);
  const seenMs = (part: "user" | "system") =>
    seen.reduce((sum, each) => sum + (each[part] * 1_000) / ticksPerSecond, 0);
  return {
    userMs: Math.max(userMs, seenMs("user")),
    systemMs: Math.max(systemMs, seenMs("system")),
  };
}

/** Parses `1m2.340s`, as POSIX's `times` prints it; in milliseconds. */
export function parseTimes(text: string): number {
  const [, minutes = "0", seconds = "0"] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return Number(minutes) * 60_000 + Number(seconds) * 1_000;
}
