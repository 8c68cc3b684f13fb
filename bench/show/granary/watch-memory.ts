import { readFileSync } from "node:fs";

/** The peak memory of a process above its memory at the start of the watch. */
interface MemoryWatch {
  /** Marks the end of a part. */
  passed(name: string): void;
  stop(): { readonly grownMiB: number; readonly most: string };
}

const everyMs = 25;

export async function watchMemory(pid: number): Promise<MemoryWatch> {
  const before = residentMiB(pid);
  const peaks: { readonly name: string; readonly mib: number }[] = [];
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMiB(pid));
  }, everyMs);
  return {
    passed(name) {
      peaks.push({ name, mib: Math.max(peak, residentMiB(pid)) });
      peak = 0;
    },
    stop() {
      clearInterval(timer);
      const [most] = peaks.toSorted((a, b) => b.mib - a.mib);
      const all = peaks.map(({ name, mib }) => `${name} ${Math.round(mib - before)}`).join(", ");
      return { grownMiB: (most?.mib ?? before) - before, most: `${most?.name} (${all})` };
    },
  };
}

function residentMiB(pid: number): number {
  const [, kib = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1_024;
}
