import { quantile } from "../quantile.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";
import { type EmptyMachineRun, onEmptyMachine, type PrintedLine } from "./empty-machine.ts";

const rounds = 3;
const how = `git clone; npm start -- --once, on ${rounds} empty machines as an ordinary user, npm's cache empty`;

/** The time that a user waits when following the README. */
export const cloneAndStart: Measurement = {
  title: "clone and start on an empty machine",
  long: true,
  async measure() {
    const runs: EmptyMachineRun[] = [];
    for (let round = 0; round < rounds; round++) {
      runs.push(
        await onEmptyMachine({
          checkout: process.cwd(),
          user: "ordinary",
          packages: [],
          command: "git clone -q origin.git project && cd project && npm start -- --once",
          timeoutMs: 10 * 60_000,
        }),
      );
    }
    return [
      atMost("clone → address printed", medianSeconds(runs, addressMs), 15, "s", how),
      atMost("clone → first graph green", medianSeconds(runs, greenMs), 60, "s", how),
    ];
  },
};

const ownGraphHow = "git clone; npm start -- --once --repo ., as an ordinary user; one run each";

/** Grange's own jobs, run by Grange as installed from a clone. */
export const ownGraph: Measurement = {
  title: "own graph on an empty machine",
  long: true,
  async measure() {
    let green = 0;
    const failures: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const run = await onEmptyMachine({
        checkout: process.cwd(),
        user: "ordinary",
        packages: [],
        command: "git clone -q origin.git project && cd project && npm start -- --once --repo .",
        timeoutMs: 60 * 60_000,
      });
      if (run.exitCode === 0) green++;
      else failures.push(`exit ${run.exitCode}: ${lastTexts(run.lines, 3)}`);
    }
    const row: Row = exactly(
      "npm start -- --once --repo . is green",
      `${green} of ${rounds}`,
      `${rounds} of ${rounds}`,
      "",
      [ownGraphHow, ...failures].join("; "),
    );
    return [row];
  },
};

function medianSeconds(
  runs: readonly EmptyMachineRun[],
  msOf: (run: EmptyMachineRun) => number,
): number {
  return quantile(runs.map(msOf), 0.5) / 1_000;
}

/** When the first address was printed; infinite when none was. */
function addressMs({ lines }: EmptyMachineRun): number {
  return lines.find(({ text }) => /http:\/\/127\.0\.0\.1:\d+/.test(text))?.ms ?? Infinity;
}

/** When the graph had ended well; infinite when it did not. */
function greenMs({ exitCode, ms }: EmptyMachineRun): number {
  return exitCode === 0 ? ms : Infinity;
}

/** Returns the last lines, which show why a run failed. */
export function lastTexts(lines: readonly PrintedLine[], count: number): string {
  return lines
    .slice(-count)
    .map(({ text }) => text.trim().slice(0, 160))
    .join(" / ");
}
