import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Measurement, Row } from "../row.ts";
import { bazelFaults } from "./bazel-faults.ts";
import { clockJumps } from "./clock-jumps.ts";
import { fullDisk } from "./full-disk.ts";
import { type Granary, type GranaryLab, startGranaryLab } from "./granary-lab.ts";
import { buildFaultless, type Fault, type Faultless, inflict } from "./inflict.ts";
import { sh } from "./project.ts";
import { type SmallProject, smallProject } from "./small-project.ts";

const killDaemon = async (_: GranaryLab, granary: Granary) => granary.program.signal("SIGKILL");
const killFarm = async ({ farm }: GranaryLab) => farm.server.signal("SIGKILL");
const bringFarmBack = ({ farm }: GranaryLab) => farm.restartServer();
const cut = (how: "refused" | "silent" | "stalled") => async (lab: GranaryLab) => lab.line.cut(how);
const mend = async (lab: GranaryLab) => lab.line.mend();

/** With two compilers at once, each: a timeout of one second, and half a second for the rest. */
const mostWaitMs = 3_000;

const faults: readonly Fault[] = [
  {
    name: "daemon killed while it fetches ahead",
    farm: "full",
    during: killDaemon,
    restart: true,
  },
  { name: "daemon killed while it uploads", farm: "empty", during: killDaemon, restart: true },
  {
    name: "farm killed while it is fetched from",
    farm: "full",
    during: killFarm,
    after: bringFarmBack,
  },
  {
    name: "farm killed while it is uploaded to",
    farm: "empty",
    during: killFarm,
    after: bringFarmBack,
  },
  {
    name: "network refused during prefetch",
    farm: "full",
    during: cut("refused"),
    after: mend,
    mostWaitMs,
  },
  {
    name: "network silent during prefetch",
    farm: "full",
    during: cut("stalled"),
    after: mend,
    mostWaitMs,
  },
  {
    name: "network silent during upload",
    farm: "empty",
    during: cut("stalled"),
    after: mend,
    mostWaitMs,
  },
  { name: "rotten files in the local store", farm: "full", before: rot },
];

/** A failed measurement does not affect the others, and each can be selected by its name. */
export const faultMeasurements: readonly Measurement[] = [
  ...faults.map((fault) =>
    underFaults(fault.name, (lab, project, faultless) => inflict(lab, project, fault, faultless)),
  ),
  underFaults("clock jumps", async (lab, project, faultless) =>
    inflict(lab, project, await clockJumps(lab), faultless),
  ),
  underFaults("local store's disk full", fullDisk),
  withinLab("Bazel: daemon killed, blobs lost", bazelFaults),
];

function underFaults(
  name: string,
  measure: (lab: GranaryLab, project: SmallProject, faultless: Faultless) => Promise<Row[]>,
): Measurement {
  return withinLab(name, async (lab) => {
    const project = await smallProject(lab.work);
    return measure(lab, project, await buildFaultless(lab, project));
  });
}

function withinLab(name: string, measure: (lab: GranaryLab) => Promise<Row[]>): Measurement {
  return {
    title: `granary: kill -9, cuts, rot, full disks: ${name}`,
    long: false,
    async measure() {
      // So slow that a prefetch and an upload take a third of a second, because faults must hit them.
      const lab = await startGranaryLab({ roundTripMs: 20, bytesPerSecond: 16e6 / 8 });
      try {
        return await measure(lab);
      } finally {
        await lab.stop();
      }
    },
  };
}

/** Changes a byte of every third blob, and of every 20 KB of packs, like a bad disk; sizes stay. */
async function rot(granary: Granary, round: number): Promise<void> {
  const blobs = join(granary.data, "blobs");
  sh(granary.data, "chmod -R u+w blobs");
  let n = round;
  for (const entry of await readdir(blobs, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || n++ % 3 !== 0) continue;
    const file = await open(join(entry.parentPath, entry.name), "r+");
    const { size } = await file.stat();
    if (size > 0) await file.write(Buffer.from([round]), 0, 1, Math.floor(size / 2));
    await file.close();
  }
  const packs = join(granary.data, "packs");
  for (const name of await readdir(packs)) {
    if (!name.endsWith(".pack")) continue;
    const file = await open(join(packs, name), "r+");
    const { size } = await file.stat();
    for (let at = 997 * round; at < size; at += 20_000)
      await file.write(Buffer.from([round]), 0, 1, at);
    await file.close();
  }
}
