import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GranaryBuildReport } from "#api/granary.ts";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { type GranaryLab, startGranaryLab } from "./granary-lab.ts";
import { type BuiltProject, ccacheProject } from "./project.ts";

const files = 80;

interface Variant {
  readonly name: string;
  /** The number of commits between the indexed commit and the built one. */
  readonly away: number;
  readonly more?: readonly string[];
  readonly dirty?: boolean;
}

const variants: readonly Variant[] = [
  { name: "no commit index: each result asked for", away: 0, more: ["--no-prefetch"] },
  { name: "the commit's own index", away: 0 },
  { name: "nearest index 1 commit away", away: 1 },
  { name: "nearest index 5 commits away", away: 5 },
  { name: "nearest index 20 commits away", away: 20 },
  { name: "dirty tree on an indexed commit", away: 0, dirty: true },
];

/** The effect of an index at several distances: each variant on an empty machine, at 20 ms. */
export const distances: Measurement = {
  title: "commit index, ancestors, dirty tree",
  long: false,
  async measure() {
    const lab = await startGranaryLab({ roundTripMs: 20, bytesPerSecond: 100e6 / 8 });
    try {
      const project = await ccacheProject(lab.work, files);
      const rows: Row[] = [];
      for (const [n, variant] of variants.entries()) {
        rows.push(...(await measureVariant(lab, project, variant, `distance-${n}`)));
      }
      await project.close();
      return rows;
    } finally {
      await lab.stop();
    }
  },
};

async function measureVariant(
  lab: GranaryLab,
  project: BuiltProject,
  { name, away, more = [], dirty = false }: Variant,
  projectName: string,
): Promise<Row[]> {
  const build = async (atCommit: number | undefined, options: readonly string[]) => {
    if (atCommit !== undefined) await project.commit(atCommit);
    await project.clean();
    const granary = await lab.startGranary();
    const run = await granary.exec(project.command, {
      cwd: project.path,
      env: project.env,
      more: ["--project", projectName, ...options],
    });
    if (run.code !== 0) throw new Error(`${name}: ${run.text}`);
    await granary.drained();
    await granary.stop();
    return run;
  };
  await build(0, []);
  // The commits between exist, but were not built.
  for (let n = 1; n < away; n++) await project.commit(n);
  if (away > 0) await project.commit(away);
  if (dirty) {
    await writeFile(join(project.path, "src", "part3.cc"), "int part3(int n) { return n; }\n");
  }
  const indexesBefore = await countIndexes(lab, projectName);
  const run = await build(undefined, more);
  const [report] = await lab.reports(projectName);
  if (report === undefined) throw new Error(`${name}: no report`);
  const rows = rowsOfReport(name, run.wallMs, report);
  if (!dirty) return rows;
  const published = (await countIndexes(lab, projectName)) - indexesBefore;
  return [
    ...rows,
    exactly(`${name}: indexes published under the commit`, published, 0, "", "before and after"),
  ];
}

async function countIndexes(lab: GranaryLab, project: string): Promise<number> {
  const response = await fetch(`${lab.farm.url}/api/v1/granary/indexes?project=${project}`);
  const { indexes } = (await response.json()) as { indexes: { builds: number }[] };
  return indexes.reduce((sum, { builds }) => sum + builds, 0);
}

export function rowsOfReport(name: string, wallMs: number, report: GranaryBuildReport): Row[] {
  const { counts, bytes, lead, waitedMs } = report;
  const fromFarm = counts.prefetched + counts.fetched;
  const how = `${counts.local} local, ${counts.prefetched} fetched ahead, ${counts.fetched} waited for, ${counts.missed} made; waited ${waitedMs} ms in all; 20 ms, 100 Mbit/s`;
  return [
    forInformation(`${name}: time`, wallMs / 1_000, "s", how),
    forInformation(
      `${name}: coverage`,
      (100 * counts.prefetched) / Math.max(1, fromFarm),
      "%",
      "of what came from the farm, there before it was asked for",
    ),
    forInformation(
      `${name}: waste`,
      (100 * bytes.wasted) / Math.max(1, bytes.transferred),
      "%",
      `${bytes.wasted} of ${bytes.transferred} bytes that came ahead were never asked for`,
    ),
    forInformation(
      `${name}: lead, the middle`,
      lead?.medianMs ?? 0,
      "ms",
      lead === null ? "nothing was fetched ahead" : `the least ${lead.leastMs} ms`,
    ),
  ];
}
