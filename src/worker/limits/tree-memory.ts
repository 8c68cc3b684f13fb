import { fairMemoryOf, filesInMemory, memoryOf } from "./process-memory.ts";

/**
 * What processes hold together: counted cheaply, and once more with care before anybody is ended for it.
 *
 * Cheaply, a page that several share since a fork counts for each of them.
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
