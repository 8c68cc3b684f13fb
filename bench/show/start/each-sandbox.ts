import { exactly, type Measurement, type Row } from "../row.ts";
import { lastTexts } from "./clone-and-start.ts";
import { type EmptyMachineCommand, onEmptyMachine } from "./empty-machine.ts";

const machines: readonly Pick<EmptyMachineCommand, "user" | "packages">[] = [
  { user: "ordinary", packages: [] },
  { user: "ordinary", packages: ["bubblewrap", "iproute2"] },
  { user: "root", packages: [] },
  { user: "root", packages: ["bubblewrap", "iproute2"] },
];

/** The features that build tools rely on, with every sandbox of a machine. */
export const eachSandbox: Measurement = {
  title: "conformance with each sandbox",
  long: true,
  async measure() {
    const rows: Row[] = [];
    for (const machine of machines) rows.push(await measureOn(machine));
    return rows;
  },
};

async function measureOn(machine: (typeof machines)[number]): Promise<Row> {
  const run = await onEmptyMachine({
    checkout: process.cwd(),
    ...machine,
    command: [
      "git clone -q origin.git project && cd project",
      "npm ci --no-audit --no-fund --loglevel=error && node scripts/build.mjs",
      "npx --no-install vitest run --reporter=default --reporter=./test/support/closing-line.ts test/build-tools/conformance",
    ].join(" && "),
    timeoutMs: 30 * 60_000,
  });
  const packages = machine.packages.length === 0 ? "no packages" : machine.packages.join(" and ");
  const who = machine.user === "root" ? "root" : "an ordinary user";
  return exactly(
    `conformance of each sandbox, as ${who} with ${packages}`,
    run.exitCode === 0 ? "passes" : "fails",
    "passes",
    "",
    `vitest run test/build-tools/conformance; its last line: ${lastTexts(run.lines, 1)}`,
  );
}
