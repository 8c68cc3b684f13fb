import { rename, rm } from "node:fs/promises";

/** A directory for a tool's cache. */
export interface EmptiedCache {
  readonly path: string;
  empty(): Promise<void>;
  remove(): Promise<void>;
}

/** Emptied by using another name: directly after many files are removed, ext4 needs much longer to create others. */
export function emptiedCache(path: string): EmptiedCache {
  const before: string[] = [];
  return {
    path,
    async empty() {
      const aside = `${path}-before-${before.length}`;
      await rename(path, aside).then(
        () => before.push(aside),
        () => {},
      );
    },
    async remove() {
      for (const one of [path, ...before]) await rm(one, { recursive: true, force: true });
    },
  };
}
