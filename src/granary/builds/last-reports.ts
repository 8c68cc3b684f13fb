import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { GranaryBuildReport } from "#api/granary.ts";
import type { Service } from "#core/service.ts";

/** Half a megabyte each at the most. */
const mostKept = 20;

/** What the last builds of this machine had from where: to be asked here, also where there is no farm with a page. */
export interface LastReports extends Service {
  /** Nobody waits for it, and nothing is lost with it but an answer. */
  keep(report: GranaryBuildReport): void;
  /** The latest first. */
  all(): Promise<GranaryBuildReport[]>;
}

export function openLastReports(directory: string, logger: Pick<Logger, "info">): LastReports {
  let writing: Promise<void> = Promise.resolve();

  /** Named by when they ended: the latest come last. */
  async function names(): Promise<string[]> {
    const found = await readdir(directory).catch((): string[] => []);
    return found.filter((name) => name.endsWith(".json")).sort();
  }

  async function write(report: GranaryBuildReport): Promise<void> {
    await mkdir(directory, { recursive: true });
    const path = join(directory, `${report.endedAt.replaceAll(":", "-")} ${report.id}.json`);
    await writeFile(`${path}.new`, JSON.stringify(report));
    await rename(`${path}.new`, path);
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
        .catch((reason: unknown) => logger.info({ err: reason }, "a report was not kept here"));
    },
    async all() {
      await writing;
      const found = await Promise.all((await names()).reverse().map(read));
      return found.flatMap((report) => report ?? []);
    },
    stop: () => writing,
  };
}
