import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isRunning } from "../../up/process-identity.ts";
import { WorkerSettings } from "../worker-settings.ts";

/** The started process, and the file from which it runs: each version has its own file. */
const WorkerRecord = z.object({
  pid: z.number(),
  startTime: z.string(),
  file: z.string(),
  since: z.string(),
});
export type WorkerRecord = z.infer<typeof WorkerRecord>;

/**
 * The files of a detached worker, which only its user can read.
 *
 *     DIRECTORY/data                        store and scratch space, for all workers there
 *     DIRECTORY/workers/NAME/settings.json  what it was told; a token too
 *     DIRECTORY/workers/NAME/server         where the farm is now
 *     DIRECTORY/workers/NAME/process.json   which process it is
 *     DIRECTORY/workers/NAME/log            what it said, JSON lines; log.1 is what came before
 *     DIRECTORY/workers/NAME/starting.N     who is starting it
 */
export class WorkerFolder {
  readonly dataDir: string;
  readonly settingsFile: string;
  readonly serverFile: string;
  readonly logFile: string;
  readonly lockFile: string;
  readonly #folder: string;
  readonly #recordFile: string;

  constructor(directory: string, name: string) {
    // The caller has checked that the name is not a path.
    this.#folder = join(directory, "workers", name);
    this.dataDir = join(directory, "data");
    this.settingsFile = join(this.#folder, "settings.json");
    this.serverFile = join(this.#folder, "server");
    this.logFile = join(this.#folder, "log");
    this.lockFile = join(this.#folder, "starting");
    this.#recordFile = join(this.#folder, "process.json");
  }

  async make(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await mkdir(this.dataDir, { recursive: true, mode: 0o700 });
  }

  async settings(): Promise<WorkerSettings | undefined> {
    return parsedFile(this.settingsFile, WorkerSettings);
  }

  async keepSettings(settings: WorkerSettings): Promise<void> {
    await writePrivately(this.settingsFile, JSON.stringify(settings));
    await this.keepServer(settings.server);
  }

  /** A running worker reads it at its next connection. */
  async keepServer(server: string): Promise<void> {
    await writePrivately(this.serverFile, `${server}\n`);
  }

  async server(): Promise<string | undefined> {
    return (await readFile(this.serverFile, "utf8").catch(() => undefined))?.trim();
  }

  async keepRecord(record: WorkerRecord): Promise<void> {
    await writePrivately(this.#recordFile, JSON.stringify(record));
  }

  /** Returns the process if it still runs. */
  async running(): Promise<WorkerRecord | undefined> {
    const record = await parsedFile(this.#recordFile, WorkerRecord);
    return record !== undefined && isRunning(record) ? record : undefined;
  }
}

/** Undefined for a file that does not exist, or that a crash left incomplete. */
async function parsedFile<S extends z.ZodType>(
  path: string,
  schema: S,
): Promise<z.output<S> | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return undefined;
  }
}

async function writePrivately(path: string, text: string): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  await writeFile(part, text, { mode: 0o600 });
  await rename(part, path);
}
