import { readFileSync, statfsSync } from "node:fs";
import { Fault } from "#core/fault.ts";

/** The free resources of the machine. */
interface MachineState {
  /** The number of threads of all processes. */
  readonly threads: number;
  readonly memoryAvailable: number;
  readonly memoryTotal: number;
  readonly diskAvailable: number;
}

/**
 * Node and Go start some tens of threads; a build with a process per file some hundreds. This is half of the processes
 * that a job of Grange may start: in a job, a fork bomb must be detected before it fails at that limit.
 */
const mostNewThreads = 2_000;
const leastDiskBytes = 256 * 1024 * 1024;
/**
 * A check takes about 0.1 ms. A fork bomb starts about 10,000 processes a second: it is ended long before it reaches
 * the kernel's 4 million, and before the machine becomes unusable.
 */
const everyMs = 100;

/** Returns why a process must end now to protect the machine; undefined when there is no danger. */
function dangerOf(before: MachineState, now: MachineState): string | undefined {
  if (now.threads - before.threads > mostNewThreads) {
    return `it started more than ${mostNewThreads} processes`;
  }
  if (
    now.memoryAvailable < 0.04 * now.memoryTotal &&
    now.memoryAvailable < before.memoryAvailable
  ) {
    return "it took all of the machine's memory";
  }
  if (now.diskAvailable < leastDiskBytes && now.diskAvailable < before.diskAvailable) {
    return "it filled the disk";
  }
  return undefined;
}

/** Ends a process that uses up the whole machine. */
export function watchMachine(disk: string, end: (fault: Fault) => void): { stop(): void } {
  const before = machineState(disk);
  if (before === undefined) return { stop() {} };
  const timer = setInterval(() => {
    const now = machineState(disk);
    const danger = now && dangerOf(before, now);
    if (danger !== undefined) end(new Fault("resource_exhausted", danger));
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}

function machineState(disk: string): MachineState | undefined {
  try {
    const memory = readFileSync("/proc/meminfo", "utf8");
    const amount = (name: string) =>
      1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(memory)?.[1] ?? 0);
    const { bavail, bsize } = statfsSync(disk);
    return {
      threads: Number(/\/(\d+) /.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0),
      memoryAvailable: amount("MemAvailable"),
      memoryTotal: amount("MemTotal"),
      diskAvailable: bavail * bsize,
    };
  } catch {
    // Not Linux, or a hidden /proc: there is nothing to watch.
    return undefined;
  }
}
