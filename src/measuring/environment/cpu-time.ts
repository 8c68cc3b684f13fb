import { readFileSync } from "node:fs";

/** Seconds of CPU time since the machine started, of all CPUs together. */
interface CpuTime {
  readonly busy: number;
  /** Time that the hypervisor gave to other machines. */
  readonly stolen: number;
}

/** /proc counts in hundredths of a second on every Linux that Node runs on (USER_HZ). */
const ticks = 100;

/** The first line of /proc/stat: `cpu user nice system idle iowait irq softirq steal …`. */
export function readCpuTime(stat: string): CpuTime {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, stolen = 0] = (
    stat.split("\n", 1)[0] ?? ""
  )
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return { busy: (user + nice + system + irq + softIrq) / ticks, stolen: stolen / ticks };
}

export function cpuTimeNow(): CpuTime {
  return readCpuTime(read("/proc/stat"));
}

/** Returns the CPU seconds of this process and of its children that have ended. */
export function ownCpuTime(): number {
  // `cutime` and `cstime`, counted from after the name, which may contain spaces.
  const fields = read("/proc/self/stat")
    .replace(/^.*\)\s/s, "")
    .split(" ");
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / ticks;
}

/** Empty when there is no such file. */
export function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
