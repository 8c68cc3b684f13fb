import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { grange } from "../../../test/support/farm.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Measurement } from "../row.ts";

const run = promisify(execFile);
const repeats = 9;
const commands = [["--help"], ["--version"], ["graphs", "--help"], ["doctor", "--help"]] as const;

/** How long a command of the built program takes that needs no farm. */
export const startTimes: Measurement = {
  title: "start of the command line",
  long: false,
  async measure() {
    const rows = [];
    const nodeMs = await timeOf(["-e", "0"]);
    for (const command of commands) {
      rows.push(
        atMost(
          `grange ${command.join(" ")}`,
          await timeOf([grange, ...command]),
          100,
          "ms",
          `median of ${repeats}; Node itself takes ${Math.round(nodeMs)} ms`,
        ),
      );
    }
    return rows;
  },
};

async function timeOf(args: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < repeats; n++) {
    const begun = performance.now();
    await run(process.execPath, args);
    times.push(performance.now() - begun);
  }
  return quantile(times, 0.5);
}
