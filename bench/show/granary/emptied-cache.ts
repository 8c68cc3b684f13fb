import { rename, rm } from "node:fs/promises";

/** A directory that a tool keeps its cache in. */
export interface EmptiedCache {
  readonly path: string;
  empty(): Promise<void>;
  remove(): Promise<void>;
}

/** Emptied by another name: right after many files are removed, ext4 takes many times as long to make others. */
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
