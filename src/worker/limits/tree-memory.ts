import { fairMemoryOf, filesInMemory, memoryOf } from "./process-memory.ts";

/**
 * Returns the memory that processes use together: estimated cheaply, and measured exactly before a process is killed
 * for it.
 *
 * In the estimate, a page that several processes share after a fork counts for each of them.
 */
export function memoryOfTree(
  pids: readonly number[],
  { hasOwnFiles, limitBytes }: { readonly hasOwnFiles: boolean; readonly limitBytes: number },
): number {
  const memories = pids.map((pid) => ({ pid, ...memoryOf(pid) }));
  const last = pids.at(-1);
  const files = hasOwnFiles && last !== undefined ? filesInMemory(last) : 0;
  const shared = memories.reduce((sum, { sharedBytes }) => sum + sharedBytes, 0);
  const held = memories.reduce((sum, { ownBytes }) => sum + ownBytes, Math.max(files, shared));
  if (held <= limitBytes || pids.length < 2) return held;
  const fair = memories.map(({ pid, ownBytes }) => fairMemoryOf(pid) ?? ownBytes);
  return fair.reduce((sum, bytes) => sum + bytes, 0) + Math.max(0, files - shared);
}
