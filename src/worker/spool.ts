import { renameSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { makePrivateDirectory } from "#machine/make-directory.ts";
import { type Finished, FinishedSchema, type Lease } from "#proto/grange/worker/v1/worker_pb.ts";

const partSuffix = ".part";

interface SpoolLeft {
  readonly results: readonly Finished[];
  /** Names of files that contained no complete result, and were removed. */
  readonly broken: readonly string[];
}

/**
 * Results on disk that the farm has not acknowledged.
 *
 * So a restart of the server or the worker loses no results: the next process with the same name reports them.
 */
export class Spool {
  readonly #directory: string;
  /** The files that may exist. Most results have none, and a removal would cost a call in the thread pool for each. */
  readonly #paths = new Set<string>();

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(dataDir: string, workerName: string): Promise<Spool> {
    // Results of jobs, with their output.
    makePrivateDirectory(join(dataDir, "spool"));
    const directory = join(dataDir, "spool", workerName);
    await mkdir(directory, { recursive: true });
    return new Spool(directory);
  }

  /**
   * Survives the end of this process, but not always a power loss: with a sync to disk, an empty job took 32 ms from
   * submission to report instead of 14 (median, ext4). A lost result only means that the action is executed again when
   * its lease expires.
   */
  async keep(finished: Finished): Promise<void> {
    const path = this.#path(finished.lease);
    const part = `${path}${partSuffix}`;
    this.#paths.add(path);
    try {
      // Synchronously, because the report waits for it, and the thread pool is slower on a busy machine.
      writeFileSync(part, toBinary(FinishedSchema, finished));
      // Renamed when complete; otherwise a partial file would be delivered as another result.
      renameSync(part, path);
    } catch (reason) {
      // On a full disk, a partial file would prevent the next write.
      await rm(part, { force: true }).catch(() => {});
      throw reason;
    }
  }

  async drop(lease: Lease | undefined): Promise<void> {
    const path = this.#path(lease);
    if (!this.#paths.has(path)) return;
    await rm(path, { force: true });
    this.#paths.delete(path);
  }

  /**
   * Returns the stored results of an earlier process of this name.
   *
   * A broken file is removed: the lease expires and the action is executed again, while a worker that fails on the file
   * would never start.
   */
  async left(): Promise<SpoolLeft> {
    const results: Finished[] = [];
    const broken: string[] = [];
    for (const name of await readdir(this.#directory)) {
      const path = join(this.#directory, name);
      const finished = name.endsWith(partSuffix) ? undefined : await readResult(path);
      if (finished) {
        this.#paths.add(path);
        results.push(finished);
      } else {
        broken.push(name);
        await rm(path, { force: true, recursive: true });
      }
    }
    return { results, broken };
  }

  #path(lease: Lease | undefined): string {
    return join(this.#directory, encodeURIComponent(leaseKey(lease)));
  }
}

export function leaseKey(lease: Lease | undefined): string {
  return `${lease?.executionId ?? ""}.${lease?.epoch ?? 0n}`;
}

/** Undefined for a file that is not a result or cannot be read. An empty file can be parsed, but names no lease. */
async function readResult(path: string): Promise<Finished | undefined> {
  try {
    const finished = fromBinary(FinishedSchema, await readFile(path));
    return finished.lease && finished;
  } catch {
    return undefined;
  }
}
