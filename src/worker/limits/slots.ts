import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { toolPath } from "../tool-path.ts";
import { chooseCpus, cpusFor } from "./choose-cpus.ts";
import { claimCpus } from "./claimed-cpus.ts";
import { CpuAssignments } from "./cpu-assignments.ts";
import { cpuListText } from "./cpu-list.ts";
import type { Limiter } from "./limits.ts";
import { coresOf, usableCpus } from "./machine-size.ts";
import { slotOf, slotShareText } from "./slot-share.ts";

/** The shares of a worker's slots, and their CPUs. */
interface Slots {
  readonly book: CpuAssignments;
  readonly taskset: string | undefined;
  /** The description for people. */
  told(limiter: Limiter): string;
  close(): void;
}

interface SlotSettings {
  readonly dataDir: string;
  readonly path: string;
  readonly slots: number;
  readonly cpus?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly diskBytes?: number | undefined;
}

/** Finds CPUs for the slots of a worker, separate from those of other workers that share its directory. */
export async function openSlots(settings: SlotSettings): Promise<Slots> {
  const { dataDir, path, slots, cpus: share, memoryBytes, diskBytes } = settings;
  const all = usableCpus();
  const cores = coresOf(all);
  const wanted = share === undefined ? 0 : slots * cpusFor(share);
  const claimed =
    share === undefined || wanted >= all.length
      ? undefined
      : await claimCpus(join(dataDir, "cpus"), (loads) => chooseCpus(all, cores, loads, wanted));
  const own = claimed?.cpus ?? all;
  const taskset = findTaskset(toolPath(path), all[0] ?? 0);
  return {
    book: new CpuAssignments(own, cores),
    taskset,
    told: (limiter) => {
      const gives = slotShareText(slotOf({ cpus: share, memoryBytes, diskBytes }));
      if (share === undefined) return gives;
      if (!limiter.can.includes("CPU sets")) return `${gives}; CPUs are not separated: no taskset`;
      const isWhole = Number.isInteger(share) || limiter.can.includes("cpus");
      const counted = isWhole ? "" : `; as whole CPUs, since this machine cannot share their time`;
      const crowd = wanted > all.length ? "; not one CPU for each" : "";
      return `${gives} each, on CPUs ${cpuListText(own)}${counted}${crowd}`;
    },
    close: () => claimed?.giveUp(),
  };
}

/** Returns the program `taskset` of util-linux, where it exists and works. */
function findTaskset(searchPath: string, cpu: number): string | undefined {
  for (const directory of searchPath.split(":")) {
    const program = join(directory, "taskset");
    try {
      accessSync(program, constants.X_OK);
      execFileSync(program, ["-c", `${cpu}`, "true"], { stdio: "ignore", timeout: 10_000 });
      return program;
    } catch {
      // The next directory may have it.
    }
  }
  return undefined;
}
