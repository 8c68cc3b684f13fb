import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import { messageOf } from "#core/fault.ts";
import { benchmarkLabShow } from "./benchmark-lab/benchmark-lab-show.ts";
import { buildToolsShow } from "./build-tools/build-tools-show.ts";
import { farmShow } from "./farm/farm-show.ts";
import { granaryShow } from "./granary/granary-show.ts";
import { graphsShow } from "./graphs/graphs-show.ts";
import { renderTable } from "./render-table.ts";
import type { Row, Show } from "./row.ts";
import { sizeClassesShow } from "./size-classes/size-classes-show.ts";
import { trustAndForgeShow } from "./trust-and-forge/trust-and-forge-show.ts";

const shows: readonly Show[] = [
  farmShow,
  graphsShow,
  buildToolsShow,
  sizeClassesShow,
  benchmarkLabShow,
  granaryShow,
  trustAndForgeShow,
];

const args = process.argv.slice(2);
const json = args.includes("--json");
const long = args.includes("--long");
const only = args.find((arg) => arg.startsWith("--only="))?.slice("--only=".length);
const name = args.find((arg) => !arg.startsWith("-"));
const show = shows.find((each) => each.name === name);
if (show === undefined) {
  process.stderr.write(
    `usage: npm run show -- NAME [--json] [--long] [--only=TEXT]\nnames: ${shows.map((each) => each.name).join(", ")}\n`,
  );
  process.exit(2);
}

const rows: Row[] = [];
for (const measurement of show.measurements) {
  if (measurement.long && !long) continue;
  if (only !== undefined && !measurement.title.includes(only)) continue;
  process.stderr.write(`measuring: ${measurement.title}\n`);
  try {
    rows.push(...(await measurement.measure()));
  } catch (cause) {
    rows.push({
      name: measurement.title,
      figure: null,
      unit: "",
      goal: "measured",
      holds: false,
      how: `could not be measured: ${messageOf(cause)}`,
    });
  }
}

const git = (...command: string[]) => execFileSync("git", command, { encoding: "utf8" }).trim();
const dirty = git("status", "--porcelain") === "" ? "" : " + uncommitted changes";
const result = {
  show: show.name,
  commit: `${git("rev-parse", "HEAD")}${dirty}`,
  machine: `${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform}`,
  rows,
};
process.stdout.write(json ? `${JSON.stringify(result)}\n` : renderTable(result));
process.exitCode = rows.every((row) => row.holds) ? 0 : 1;
