import { readdirSync } from "node:fs";
import { cpus } from "node:os";
import { read } from "./cpu-time.ts";

export function cpusOnline(): number {
  return Math.max(1, cpus().length);
}

/** Returns the folders of CPUs in /sys; none when it is hidden. */
function cpuFolders(): string[] {
  const top = "/sys/devices/system/cpu";
  try {
    return readdirSync(top)
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => `${top}/${name}`);
  } catch {
    return [];
  }
}

/**
 * Returns the fastest clock of all CPUs now, in MHz, which is that of the working CPU. Undefined when it is unknown.
 */
export function fastestClock(): number | undefined {
  const clocks = cpuFolders()
    .map((at) => Number(read(`${at}/cpufreq/scaling_cur_freq`)) / 1_000)
    .filter((mhz) => mhz > 0);
  return clocks.length === 0 ? undefined : Math.max(...clocks);
}

/** Returns how often CPUs were slowed down because of heat since the machine started. */
export function throttleCount(): number {
  return cpuFolders()
    .map((at) => Number(read(`${at}/thermal_throttle/core_throttle_count`)))
    .reduce((sum, count) => sum + count, 0);
}
