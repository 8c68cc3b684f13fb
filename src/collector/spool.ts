import { randomUUID } from "node:crypto";
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ReportTest } from "#api/collector.ts";
import { makePrivateDirectory } from "#machine/make-directory.ts";

const KeptTest = z.object({
  jobId: z.uuid(),
  /** The fingerprint of the machine. Figures are never reported for another environment. */
  fingerprint: z.string(),
  keptAtMs: z.number(),
  test: ReportTest.omit({ holder: true }),
});
/** The results of a test that the server does not have yet. Another collector may have the job when they are sent. */
export type KeptTest = z.input<typeof KeptTest>;

/** After this time, a job that was not assigned again belongs to another collector. */
const longestMs = 24 * 60 * 60_000;

const partSuffix = ".part";

/**
 * Results on disk, from the end of a test until the server has them.
 *
 * Synced, unlike a worker's spool, because a test takes minutes, and a lost result must be measured again.
 */
export class Spool {
  readonly #directory: string;
  readonly #kept = new Map<string, KeptTest>();
  #last = 0;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Opens the spool with the results of an earlier process; `broken` are names of incomplete files, which were removed.
   */
  static async open(
    dataDir: string,
    nowMs: number,
  ): Promise<{ readonly spool: Spool; readonly broken: readonly string[] }> {
    const spool = new Spool(join(dataDir, "spool"));
    makePrivateDirectory(spool.#directory);
    return { spool, broken: await spool.#read(nowMs) };
  }

  async keep(kept: KeptTest): Promise<void> {
    // Sent in the order in which they were measured.
    const name = `${String(++this.#last).padStart(9, "0")}-${randomUUID()}.json`;
    const path = join(this.#directory, name);
    try {
      const file = await open(path + partSuffix, "wx");
      try {
        await file.writeFile(JSON.stringify(kept));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(path + partSuffix, path);
      await syncDirectory(this.#directory);
    } catch (reason) {
      // On a full disk, the incomplete file would block the next one.
      await rm(path + partSuffix, { force: true }).catch(() => {});
      throw reason;
    }
    this.#kept.set(name, kept);
  }

  /** Returns the results with their names for `drop`, oldest first. */
  of(jobId: string): [name: string, kept: KeptTest][] {
    return [...this.#kept].filter(([, kept]) => kept.jobId === jobId);
  }

  async drop(name: string): Promise<void> {
    this.#kept.delete(name);
    await rm(join(this.#directory, name), { force: true });
  }

  async dropJob(jobId: string): Promise<void> {
    for (const [name] of this.of(jobId)) await this.drop(name);
  }

  async dropOld(nowMs: number): Promise<void> {
    for (const [name, kept] of this.#kept) {
      if (nowMs - kept.keptAtMs >= longestMs) await this.drop(name);
    }
  }

  async #read(nowMs: number): Promise<string[]> {
    const broken: string[] = [];
    for (const name of (await readdir(this.#directory)).toSorted()) {
      const kept = name.endsWith(".json") ? await readKept(join(this.#directory, name)) : undefined;
      if (kept && nowMs - kept.keptAtMs < longestMs) {
        this.#kept.set(name, kept);
        this.#last = Math.max(this.#last, Number.parseInt(name, 10) || 0);
      } else {
        if (!kept) broken.push(name);
        await rm(join(this.#directory, name), { force: true, recursive: true });
      }
    }
    return broken;
  }
}

async function readKept(path: string): Promise<KeptTest | undefined> {
  try {
    return KeptTest.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return undefined;
  }
}

/** Syncs a directory: otherwise a new name may be lost after a power failure although the bytes are stored. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
