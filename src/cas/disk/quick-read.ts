import { closeSync, openSync, readSync } from "node:fs";
import { turns } from "#scheduling/turns.ts";
import { quickCallsIn } from "./quick-calls.ts";

/** Reads small files without the thread pool, for as long as the disk answers at once. */
export interface QuickRead {
  /**
   * Returns the content of a file of exactly this size. Undefined when there is none, when the file has another size,
   * and when the thread pool has to be used now.
   */
  call(path: string, sizeBytes: number): Promise<Uint8Array | undefined>;
}

/**
 * Returns the reading of small files without the thread pool, for the files of a directory.
 *
 * Three calls through the thread pool cost 60 us of CPU time for a file of 1 kB; the calls themselves take 8 us. They
 * have a measure of their own, because a file may be known to the kernel while its bytes are still on a slow disk.
 */
export async function quickReadIn(directory: string): Promise<QuickRead> {
  const calls = await quickCallsIn(directory);
  // One for all callers: a reader of thousands of files, one after the other, must let others in too.
  const turn = turns();
  return {
    async call(path, sizeBytes) {
      const waiting = turn();
      if (waiting !== undefined) await waiting;
      if (!calls.mayCall()) return undefined;
      return calls.call(() => contentOf(path, sizeBytes));
    },
  };
}

/** Returns the content of a file of exactly this size; undefined after any failure. */
function contentOf(path: string, sizeBytes: number): Uint8Array | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    // One byte more than expected, to notice a longer file.
    const bytes = Buffer.allocUnsafe(sizeBytes + 1);
    const size = readSync(file, bytes, 0, bytes.byteLength, 0);
    return size === sizeBytes ? bytes.subarray(0, size) : undefined;
  } catch {
    // The caller looks once more, by the thread pool, and judges the failure.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
