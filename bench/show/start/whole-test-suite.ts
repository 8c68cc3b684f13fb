import { exactly, type Measurement, type Row } from "../row.ts";
import { lastTexts } from "./clone-and-start.ts";
import { type EmptyMachineCommand, onEmptyMachine } from "./empty-machine.ts";

/** Each run takes about ten minutes; `GRANGE_SHOW_TEST_ROUNDS` asks for fewer. */
const rounds = Number(process.env["GRANGE_SHOW_TEST_ROUNDS"] ?? 5);

/** The README's second command, on a machine with only Git, Node and npm. */
export const wholeTestSuite: Measurement = {
  title: "npm test on an empty machine",
  long: true,
  async measure() {
    const rows: Row[] = [];
    for (const user of ["ordinary", "root"] as const) rows.push(await testedAs(user));
    return rows;
  },
};

async function testedAs(user: EmptyMachineCommand["user"]): Promise<Row> {
  let passed = 0;
  const closings: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const run = await onEmptyMachine({
      checkout: process.cwd(),
      user,
      packages: [],
      command: "git clone -q origin.git project && cd project && npm test",
      timeoutMs: 60 * 60_000,
    });
    if (run.exitCode === 0) passed++;
    closings.push(`${lastTexts(run.lines, 1)} in ${(run.ms / 60_000).toFixed(1)} min`);
  }
  return exactly(
    `npm test passes, ${user === "root" ? "as root" : "as an ordinary user"}`,
    `${passed} of ${rounds}`,
    `${rounds} of ${rounds}`,
    "",
    `git clone; npm test; the runs' last lines: ${closings.join("; ")}`,
  );
}
