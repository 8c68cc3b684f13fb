import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import type { GranaryLab } from "./granary-lab.ts";
import type { Fault } from "./inflict.ts";
import { sh } from "./project.ts";

const hour = 3_600_000;
const year = 365 * 24 * hour;
/** The jumps of the wall clock during a build; the time of the kernel and of other programs stays. */
const jumps = [-10 * year, -hour, -5_000, 5_000, hour, 10 * year];

/** Loaded by a daemon before its own code: its wall clock jumps at each SIGUSR2, as if it were set. */
const clock = `
const jumps = ${JSON.stringify(jumps)};
let offset = 0;
let n = 0;
const Real = Date;
globalThis.Date = class Date extends Real {
  constructor(...parts) {
    if (parts.length === 0) super(Real.now() + offset);
    else super(...parts);
  }
  static now() { return Real.now() + offset; }
};
process.on("SIGUSR2", () => { offset = jumps[n++ % jumps.length]; });
`;

export async function clockJumps(lab: GranaryLab): Promise<Fault> {
  const preload = join(lab.work, "clock.mjs");
  await writeFile(preload, clock);
  return {
    name: "clock jumps",
    farm: "empty",
    restart: true,
    env: { NODE_OPTIONS: `--import=${preload}` },
    // The times of some files jump, too, as on a file system with another machine's clock.
    async during(_, granary, round) {
      for (let n = 0; n <= round % jumps.length; n++) {
        granary.program.signal("SIGUSR2");
        await rest(10);
      }
      const when = new Date(Date.now() + (jumps[round % jumps.length] ?? 0)).toISOString();
      sh(
        granary.data,
        `find results outbox -type f 2>/dev/null | head -5 | xargs -r touch -c -d ${when} || true`,
      );
    },
  };
}
