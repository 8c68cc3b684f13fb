import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "#core/fault.ts";

/** The worker in one file, and the digest under which it is stored on other machines. */
export interface WorkerBundle {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** Reads the bundle next to the built program; a program that runs from sources uses the last build. */
export async function readWorkerBundle(entry: string): Promise<WorkerBundle> {
  for (const folder of [".", "../../dist"]) {
    const path = join(dirname(entry), folder, "grange-worker.mjs");
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes === undefined) continue;
    return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
  }
  throw new Fault(
    "failed_precondition",
    "the file grange-worker.mjs does not exist; create it with: npm run build",
  );
}
