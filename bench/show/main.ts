import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import { messageOf } from "#core/fault.ts";
import { renderTable } from "./render-table.ts";
import type { Row, Show } from "./row.ts";
import { readShowOptions, showUsage } from "./show-options.ts";

/** Each is loaded when it is requested, because it may need programs that the others do not need. */
const shows: Readonly<Record<string, () => Promise<Show>>> = {
  start: async () => (await import("./start/start-show.ts")).startShow,
  seeds: async () => (await import("./seeds/seeds-show.ts")).seedsShow,
  defects: async () => (await import("./defects/defects-show.ts")).defectsShow,
  codebase: async () => (await import("./codebase/codebase-show.ts")).codebaseShow,
  recovery: async () => (await import("./recovery/recovery-show.ts")).recoveryShow,
  farm: async () => (await import("./farm/farm-show.ts")).farmShow,
  graphs: async () => (await import("./graphs/graphs-show.ts")).graphsShow,
  "build-tools": async () => (await import("./build-tools/build-tools-show.ts")).buildToolsShow,
  field: async () => (await import("./field/field-show.ts")).fieldShow,
  "size-classes": async () => (await import("./size-classes/size-classes-show.ts")).sizeClassesShow,
  "benchmark-lab": async () =>
    (await import("./benchmark-lab/benchmark-lab-show.ts")).benchmarkLabShow,
  granary: async () => (await import("./granary/granary-show.ts")).granaryShow,
  "trust-and-forge": async () =>
    (await import("./trust-and-forge/trust-and-forge-show.ts")).trustAndForgeShow,
  security: async () => (await import("./security/security-show.ts")).securityShow,
  containers: async () => (await import("./containers/containers-show.ts")).containersShow,
  "scale-out": async () => (await import("./scale-out/scale-out-show.ts")).scaleOutShow,
  pages: async () => (await import("./pages/pages-show.ts")).pagesShow,
};

const names = Object.keys(shows);
const options = readShowOptions(process.argv.slice(2), names);
if ("problem" in options) {
  process.stderr.write(`${options.problem}\n\n${showUsage(names)}`);
  process.exit(2);
}
const { json, long, only, minutes } = options;
const load = options.name === undefined ? undefined : shows[options.name];
if (load === undefined) {
  process.stdout.write(showUsage(names));
  process.exit(0);
}
const show = await load();
const titles = show.measurements.map((each) => `  ${each.title}${each.long ? " (--long)" : ""}\n`);
if (options.help) {
  process.stdout.write(`${showUsage(names)}\n${show.name} measures:\n${titles.join("")}`);
  process.exit(0);
}
const wanted = show.measurements.filter(
  (each) => (long || !each.long) && (only === undefined || each.title.includes(only)),
);
if (wanted.length === 0) {
  process.stderr.write(
    `no title of ${show.name} contains "${only}"${long ? "" : " without --long"}; there are:\n${titles.join("")}`,
  );
  process.exit(2);
}

// With it, each start of Node reads all certificates of a file: 60 ms that belong to the machine and not to Grange.
const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
if (certificates !== undefined) {
  process.env["GRANGE_TEST_REGISTRY_CA"] = certificates;
  delete process.env["NODE_EXTRA_CA_CERTS"];
  process.stderr.write("measured without NODE_EXTRA_CA_CERTS, which slows each start of Node\n");
}

const rows: Row[] = [];
for (const measurement of wanted) {
  const { title } = measurement;
  process.stderr.write(`measuring: ${title}\n`);
  // Else the disk still writes what the last measurement left, which slows this one down.
  execFileSync("sync");
  const measured = await measurement
    .measure({ minutes, long })
    .catch((cause: unknown) => [notMeasured(title, cause)]);
  rows.push(...measured);
  // The rows before an interruption are still printed.
  for (const { name, figure, unit, holds } of measured)
    process.stderr.write(
      `  ${holds ? "holds" : "DOES NOT HOLD"}: ${name}: ${figure ?? "–"} ${unit}\n`,
    );
}

function notMeasured(title: string, cause: unknown): Row {
  return {
    name: title,
    figure: null,
    unit: "",
    goal: "measured",
    holds: false,
    how: `could not be measured: ${messageOf(cause)}`,
  };
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
