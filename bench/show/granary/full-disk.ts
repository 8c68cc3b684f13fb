import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { smallDisk } from "../../../test/support/small-disk.ts";
import { exactly, forInformation, type Row } from "../row.ts";
import type { GranaryLab } from "./granary-lab.ts";
import { build, type Faultless, rounds } from "./inflict.ts";
import { sh } from "./project.ts";
import type { SmallProject } from "./small-project.ts";

/** Some rounds have space only for the daemon's own files, some for most of the build. */
const kibibytesOf = (round: number) => 128 + round * 40;

export async function fullDisk(
  lab: GranaryLab,
  project: SmallProject,
  { product, full }: Faultless,
): Promise<Row[]> {
  const name = "local store's disk full: builds green, right bytes";
  const whyNot = smallDisk.missing;
  if (whyNot !== undefined) {
    return [{ name, figure: null, unit: "", goal: `${rounds}`, holds: false, how: whyNot }];
  }
  let good = 0;
  let longest = 0;
  const why: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const disk = join(lab.work, `disk-${round}`);
    await mkdir(disk);
    sh(lab.work, `mount -t tmpfs -o size=${kibibytesOf(round)}k none ${disk}`);
    try {
      const granary = await lab.startGranary({ data: join(disk, "granary") });
      // Alternately, a build makes all results, or gets them.
      const run = await build(granary, project, round % 2 === 0 ? full : `disk-${round}`);
      longest = Math.max(longest, run.wallMs);
      if (run.code === 0 && project.product() === product) good++;
      else why.push(run.text.slice(-500));
      await granary.stop();
    } finally {
      sh(lab.work, `umount -l ${disk}`);
    }
  }
  const sizes = `${kibibytesOf(0)} to ${kibibytesOf(rounds - 1)} KiB`;
  return [
    exactly(name, good, rounds, `of ${rounds}`, [`file systems of ${sizes}`, ...why].join("; ")),
    forInformation("local store's disk full: the longest build", longest / 1_000, "s", ""),
  ];
}
