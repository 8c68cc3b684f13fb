import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Finished, FinishedSchema, type Lease } from "#proto/grange/worker/v1/worker_pb.ts";

/**
 * Results that the farm has not acknowledged, on disk.
 *
 * A server that restarts, or a worker that does, then costs nothing: what was
 * finished is reported by whoever comes next under the same name.
 */
export class Spool {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(dataDir: string, workerName: string): Promise<Spool> {
    const directory = join(dataDir, "spool", workerName);
    await mkdir(directory, { recursive: true });
    return new Spool(directory);
  }

  async keep(finished: Finished): Promise<void> {
    const path = this.#path(finished.lease);
    // Renamed when whole; a half of it would be delivered as another result.
    await writeFile(`${path}.part`, toBinary(FinishedSchema, finished));
    await rename(`${path}.part`, path);
  }

  async drop(lease: Lease | undefined): Promise<void> {
    await rm(this.#path(lease), { force: true });
  }

  /** What an earlier process of this name did not get rid of. */
  async left(): Promise<Finished[]> {
    const left: Finished[] = [];
    for (const name of await readdir(this.#directory)) {
      const path = join(this.#directory, name);
      if (name.endsWith(".part")) await rm(path, { force: true });
      else left.push(fromBinary(FinishedSchema, await readFile(path)));
    }
    return left;
  }

  #path(lease: Lease | undefined): string {
    return join(this.#directory, encodeURIComponent(leaseKey(lease)));
  }
}

export function leaseKey(lease: Lease | undefined): string {
  return `${lease?.executionId ?? ""}.${lease?.epoch ?? 0n}`;
}
