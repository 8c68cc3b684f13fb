import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { GranaryBuildReport } from "#api/granary.ts";
import type { Service } from "#core/service.ts";

/** The number of reports kept, of at most half a megabyte each. */
const mostKept = 20;

/** The reports of the last builds on this machine, for `grange granary why` without a farm. */
interface LastReports extends Service {
  /** Stores a report in the background; losing one loses only that answer. */
  keep(report: GranaryBuildReport): void;
  /** Returns the reports, latest first. */
  all(): Promise<GranaryBuildReport[]>;
}

/** Files are numbered in the order of the builds' ends. With times, a clock that was once ahead would keep that build the last. */
const numbered = /^(\d{12}) /;

/** Returns 0 for files named by times, as older versions wrote them, so that they come first. */
function numberOf(name: string): number {
  return Number(numbered.exec(name)?.[1] ?? 0);
}

export function openLastReports(directory: string, logger: Pick<Logger, "info">): LastReports {
  let writing: Promise<void> = Promise.resolve();

  /** The latest come last. */
  async function names(): Promise<string[]> {
    const found = await readdir(directory).catch((): string[] => []);
    return found
      .filter((name) => name.endsWith(".json"))
      .sort((one, other) => numberOf(one) - numberOf(other) || (one < other ? -1 : 1));
  }

  async function write(report: GranaryBuildReport): Promise<void> {
    await mkdir(directory, { recursive: true });
    const before = (await names()).at(-1);
    const number = before === undefined ? 1 : numberOf(before) + 1;
    const path = join(directory, `${String(number).padStart(12, "0")} ${report.id}.json`);
    try {
      await writeFile(`${path}.new`, JSON.stringify(report));
      await rename(`${path}.new`, path);
    } catch (reason) {
      await rm(`${path}.new`, { force: true });
      throw reason;
    }
    for (const old of (await names()).slice(0, -mostKept)) await rm(join(directory, old));
  }

  async function read(name: string): Promise<GranaryBuildReport | undefined> {
    try {
      const text = await readFile(join(directory, name), "utf8");
      return GranaryBuildReport.safeParse(JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  }

  return {
    keep(report) {
      writing = writing
        .then(() => write(report))
        .catch((reason: unknown) =>
          logger.info({ err: reason }, "a report could not be stored on this machine"),
        );
    },
    async all() {
      await writing;
      const found = await Promise.all((await names()).reverse().map(read));
      return found.flatMap((report) => report ?? []);
    },
    stop: () => writing,
  };
}
