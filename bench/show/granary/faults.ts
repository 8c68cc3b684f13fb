import { mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { whyNoSmallDisk } from "../../../test/support/small-disk.ts";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { type Granary, type GranaryLab, startGranaryLab } from "./granary-lab.ts";
import { type BuiltProject, ccacheProject, sh } from "./project.ts";
import { timed } from "./timed.ts";

const rounds = 20;
const files = 16;

interface Fault {
  readonly name: string;
  /** Whether there is something at the farm to fetch (the fault hits the prefetch) or not (it hits the upload). */
  readonly farm: "full" | "empty";
  /** Before the build. */
  before?(granary: Granary, round: number): Promise<void>;
  /** While the build runs, after a time that differs from round to round. */
  during?(lab: GranaryLab, granary: Granary): Promise<void>;
  /** After the build, so that uploads can go on. */
  after?(lab: GranaryLab): Promise<void>;
}

const killDaemon = async (_: GranaryLab, granary: Granary) => granary.program.signal("SIGKILL");
const killFarm = async ({ farm }: GranaryLab) => farm.server.signal("SIGKILL");
const bringFarmBack = ({ farm }: GranaryLab) => farm.restartServer();
const cut = (how: "refused" | "silent") => async (lab: GranaryLab) => lab.line.cut(how);
const mend = async (lab: GranaryLab) => lab.line.mend();

const faults: readonly Fault[] = [
  { name: "daemon killed while it fetches ahead", farm: "full", during: killDaemon },
  { name: "daemon killed while it uploads", farm: "empty", during: killDaemon },
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
  { name: "network refused during prefetch", farm: "full", during: cut("refused"), after: mend },
  { name: "network silent during prefetch", farm: "full", during: cut("silent"), after: mend },
  { name: "network silent during upload", farm: "empty", during: cut("silent"), after: mend },
  { name: "rotten files in the local store", farm: "full", before: rot },
];

/** Each fault at twenty moments: the build goes on and ends green, with the right bytes; uploads complete later. */
export const faultsMeasurement: Measurement = {
  title: "granary: kill -9, cuts, rot, full disks",
  long: false,
  async measure() {
    const lab = await startGranaryLab({ roundTripMs: 20, bytesPerSecond: 100e6 / 8 });
    try {
      const project = await ccacheProject(lab.work, files);
      await timed(project.command, {
        cwd: project.path,
        env: { ...project.env, ...project.uncached },
      });
      const right = project.product();
      const rows: Row[] = [];
      for (const [n, fault] of faults.entries()) {
        rows.push(...(await inflict(lab, project, fault, right, `fault-${n}`)));
      }
      rows.push(...(await fullDisk(lab, project, right)));
      await project.close();
      return rows;
    } finally {
      await lab.stop();
    }
  },
};

async function inflict(
  lab: GranaryLab,
  project: BuiltProject,
  fault: Fault,
  right: string,
  prefix: string,
): Promise<Row[]> {
  let green = 0;
  let rightBytes = 0;
  let uploaded = 0;
  let longest = 0;
  const why: string[] = [];
  const full = fault.farm === "full" ? await fill(lab, project, `${prefix}-full`) : undefined;
  for (let round = 0; round < rounds; round++) {
    const name = full ?? `${prefix}-${round}`;
    const granary = await lab.startGranary();
    if (fault.before !== undefined) {
      await build(granary, project, name);
      await fault.before(granary, round);
    }
    const running = build(granary, project, name);
    if (fault.during !== undefined) {
      // An empty farm is uploaded to while the compiler runs; a full one is emptied at once.
      const moment = fault.farm === "full" ? 250 + 45 * round : 700 + 150 * round;
      await new Promise((resolve) => setTimeout(resolve, moment));
      await fault.during(lab, granary);
    }
    const run = await running;
    longest = Math.max(longest, run.wallMs);
    if (run.code === 0) green++;
    else why.push(run.text.slice(-500));
    if (run.code === 0 && project.product() === right) rightBytes++;
    await fault.after?.(lab);
    // The daemon as it is started again after a crash, on what it left.
    granary.program.signal("SIGKILL");
    await granary.program.finished;
    const again = await lab.startGranary({ data: granary.data });
    await again.drained();
    await again.stop();
    if (await isAtFarm(lab, project, name, await kept(granary))) uploaded++;
  }
  const how = `${rounds} moments; the longest build ${(longest / 1_000).toFixed(1)} s${why.length > 0 ? `; ${why[0]}` : ""}`;
  return [
    exactly(`${fault.name}: builds green`, green, rounds, `of ${rounds}`, how),
    exactly(
      `${fault.name}: right bytes`,
      rightBytes,
      rounds,
      `of ${rounds}`,
      "SHA-256 of all outputs",
    ),
    exactly(
      `${fault.name}: all that was made reached the farm later`,
      uploaded,
      rounds,
      `of ${rounds}`,
      "a machine that has nothing makes nothing of what the daemon had acknowledged",
    ),
  ];
}

async function build(granary: Granary, project: BuiltProject, name: string) {
  await project.clean();
  return granary
    .exec(project.command, {
      cwd: project.path,
      env: project.env,
      more: ["--project", name],
    })
    .catch(async (reason: unknown) => {
      // Its CPU cannot be read when it was killed meanwhile; what counts is the build.
      if (!String(reason).includes("/proc/")) throw reason;
      return { code: 0, wallMs: 0, cpuMs: 0, granaryCpuMs: 0, text: "" };
    });
}

async function fill(lab: GranaryLab, project: BuiltProject, name: string): Promise<string> {
  const granary = await lab.startGranary();
  await build(granary, project, name);
  await granary.drained();
  await granary.stop();
  return name;
}

/** How many results a daemon had taken. */
async function kept({ data }: Granary): Promise<number> {
  const entries = await readdir(join(data, "results"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

/** Whether a machine that has nothing is given at least so many results. */
async function isAtFarm(
  lab: GranaryLab,
  project: BuiltProject,
  name: string,
  results: number,
): Promise<boolean> {
  const machine = await lab.startGranary();
  const run = await build(machine, project, name);
  await machine.drained();
  await machine.stop();
  const [report] = await lab.reports(name);
  if (run.code !== 0 || report === undefined) return false;
  return report.counts.prefetched + report.counts.fetched >= results;
}

/** A byte of every third blob is changed, as a bad disk does; sizes stay. */
async function rot(granary: Granary, round: number): Promise<void> {
  const blobs = join(granary.data, "blobs");
  let n = round;
  for (const entry of await readdir(blobs, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || n++ % 3 !== 0) continue;
    const path = join(entry.parentPath, entry.name);
    sh(granary.data, `chmod u+w ${path}`);
    const file = await open(path, "r+");
    const { size } = await file.stat();
    if (size > 0) await file.write(Buffer.from([round]), 0, 1, Math.floor(size / 2));
    await file.close();
  }
}

async function fullDisk(lab: GranaryLab, project: BuiltProject, right: string): Promise<Row[]> {
  const name = "local store's disk full: builds green, right bytes";
  const whyNot = whyNoSmallDisk();
  if (whyNot !== undefined)
    return [{ name, figure: null, unit: "", goal: `${rounds}`, holds: false, how: whyNot }];
  let good = 0;
  let longest = 0;
  for (let round = 0; round < rounds; round++) {
    // Some rounds have room for nothing, some for most of it.
    const disk = join(lab.work, `disk-${round}`);
    await mkdir(disk);
    sh(lab.work, `mount -t tmpfs -o size=${256 + round * 96}k none ${disk}`);
    try {
      const granary = await lab.startGranary({ data: join(disk, "granary") });
      const run = await build(granary, project, `disk-${round}`);
      longest = Math.max(longest, run.wallMs);
      if (run.code === 0 && project.product() === right) good++;
      await granary.stop();
    } finally {
      sh(lab.work, `umount -l ${disk}`);
    }
  }
  return [
    exactly(name, good, rounds, `of ${rounds}`, "file systems of 256 KiB to 2.1 MiB for its data"),
    forInformation(`${name}: the longest build`, longest / 1_000, "s", ""),
  ];
}
