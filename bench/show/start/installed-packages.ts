import { Fault } from "#core/fault.ts";
import { atMost, forInformation, type Measurement, type Row } from "../row.ts";
import { lastTexts } from "./clone-and-start.ts";
import { onEmptyMachine } from "./empty-machine.ts";

/** Prints seconds and megabytes (10⁶ bytes of disk) of one installation with an empty cache. */
const measureInstall = (arguments_: string) =>
  [
    "rm -rf node_modules ~/.npm",
    "begin=$(date +%s%N)",
    `npm ci ${arguments_} --no-audit --no-fund --loglevel=error`,
    'echo "installed: $(( ($(date +%s%N) - begin) / 1000000 )) ms $(du -s -B 1000000 node_modules | cut -f 1) MB"',
  ].join(" && ");

/** The packages that npm installs for the two commands of the README. */
export const installedPackages: Measurement = {
  title: "installed packages",
  long: true,
  async measure() {
    const run = await onEmptyMachine({
      checkout: process.cwd(),
      user: "ordinary",
      packages: [],
      command: [
        "git clone -q origin.git project && cd project",
        // The first installation fills caches of the registry and does not count.
        measureInstall("--omit=dev"),
        measureInstall("--omit=dev"),
        measureInstall("--include=dev"),
      ].join(" && "),
      timeoutMs: 10 * 60_000,
    });
    const measured = run.lines.flatMap(({ text }) => {
      const match = /^installed: (\d+) ms (\d+) MB$/.exec(text);
      return match === null ? [] : [{ seconds: Number(match[1]) / 1_000, mb: Number(match[2]) }];
    });
    const [, start, all] = measured;
    if (start === undefined || all === undefined) {
      throw new Fault("unavailable", `npm ci failed: ${lastTexts(run.lines, 3)}`);
    }
    const how = "npm ci --omit=dev on an empty machine, npm's cache empty";
    const rows: Row[] = [
      atMost("installed packages for npm start", start.mb, 130, "MB", how),
      atMost("installation for npm start", start.seconds, 6, "s", how),
      forInformation("installed packages for npm test", all.mb, "MB", "npm ci, the same way"),
      forInformation("installation for npm test", all.seconds, "s", "npm ci, the same way"),
    ];
    return rows;
  },
};
