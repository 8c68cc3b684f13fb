import { statfsSync, statSync } from "node:fs";
import { textIn } from "./cgroup-files.ts";

/** The memory of a process without cached files. */
interface ProcessMemory {
  readonly ownBytes: number;
  /** Files in memory that it has mapped; other processes may have mapped the same. */
  readonly sharedBytes: number;
}

/** A page that two processes share after a fork is counted in both. */
export function memoryOf(pid: number): ProcessMemory {
  return parseStatus(textIn(`/proc/${pid}/status`));
}

/** Parses /proc/PID/status, see proc(5). */
function parseStatus(status: string): ProcessMemory {
  const bytes = (key: string) =>
    Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) * 1_024;
  return { ownBytes: bytes("RssAnon") + bytes("VmSwap"), sharedBytes: bytes("RssShmem") };
}

/**
 * Returns the same values with each shared page divided among the processes that share it; undefined when reading is
 * not permitted. The kernel visits all pages for it: milliseconds for each gigabyte.
 */
export function fairMemoryOf(pid: number): number | undefined {
  return parseRollup(textIn(`/proc/${pid}/smaps_rollup`));
}

/** From /proc/PID/smaps_rollup. */
function parseRollup(rollup: string): number | undefined {
  const found = ["Pss_Anon", "Pss_Shmem", "SwapPss"].map(
    (key) => new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1],
  );
  if (found[0] === undefined) return undefined;
  return found.reduce((sum, kibibytes) => sum + Number(kibibytes ?? 0) * 1_024, 0);
}

/** Returns the bytes in the /dev/shm of a process that has its own; 0 when it is not visible. */
export function filesInMemory(pid: number): number {
  try {
    // Before its sandbox is set up, the process sees the machine's.
    if (statSync(`/proc/${pid}/root/dev/shm`).dev === statSync("/dev/shm").dev) return 0;
    const { blocks, bfree, bsize } = statfsSync(`/proc/${pid}/root/dev/shm`);
    return (blocks - bfree) * bsize;
  } catch {
    return 0;
  }
}

/** Returns how many processes the kernel of this machine ended for lack of memory since its boot. */
export function killsOnMachine(): number {
  return Number(/^oom_kill (\d+)$/m.exec(textIn("/proc/vmstat"))?.[1] ?? 0);
}
