import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import { messageOf } from "#core/fault.ts";
import { renderTable } from "./render-table.ts";
import type { Row, Show } from "./row.ts";

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
  "size-classes": async () => (await import("./size-classes/size-classes-show.ts")).sizeClassesShow,
  "benchmark-lab": async () =>
    (await import("./benchmark-lab/benchmark-lab-show.ts")).benchmarkLabShow,
  granary: async () => (await import("./granary/granary-show.ts")).granaryShow,
  "trust-and-forge": async () =>
    (await import("./trust-and-forge/trust-and-forge-show.ts")).trustAndForgeShow,
  security: async () => (await import("./security/security-show.ts")).securityShow,
  containers: async () => (await import("./containers/containers-show.ts")).containersShow,
  pages: async () => (await import("./pages/pages-show.ts")).pagesShow,
};

const args = process.argv.slice(2);
const json = args.includes("--json");
const long = args.includes("--long");
const only = args.find((arg) => arg.startsWith("--only="))?.slice("--only=".length);
const name = args.find((arg) => !arg.startsWith("-"));
const minutes = minutesOf(args.find((arg) => arg.startsWith("--minutes="))?.split("=")[1]);
const load = name === undefined ? undefined : shows[name];
if (load === undefined) {
  process.stderr.write(
    `usage: npm run show -- NAME [--json] [--long] [--only=TEXT] [--minutes=N]\nnames: ${Object.keys(shows).join(", ")}\n`,
  );
  process.exit(2);
}
const show = await load();
const wanted = show.measurements.filter(
  (each) => (long || !each.long) && (only === undefined || each.title.includes(only)),
);
if (wanted.length === 0) {
  const titles = show.measurements.map((each) => `  ${each.title}${each.long ? " (--long)" : ""}`);
  process.stderr.write(
    `nothing of ${show.name} is called so${long ? "" : " without --long"}; there are:\n${titles.join("\n")}\n`,
  );
  process.exit(2);
}

const rows: Row[] = [];
for (const measurement of wanted) {
  const { title } = measurement;
  process.stderr.write(`measuring: ${title}\n`);
  const measured = await measurement
    .measure({ minutes })
    .catch((cause: unknown) => [notMeasured(title, cause)]);
  rows.push(...measured);
  // The rows before an interruption are still printed.
  for (const { name, figure, unit, holds } of measured)
    process.stderr.write(
      `  ${holds ? "holds" : "DOES NOT HOLD"}: ${name}: ${figure ?? "–"} ${unit}\n`,
    );
}

/** Returns how long a soak lasts. Ends the process when that is not a number above 0. */
function minutesOf(written: string | undefined): number | undefined {
  if (written === undefined) return undefined;
  const wanted = Number(written);
  if (wanted > 0) return wanted;
  process.stderr.write(`--minutes=${written}: must be a number above 0\n`);
  process.exit(2);
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
