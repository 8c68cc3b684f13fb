import type { SpooledKind, SpoolFile } from "./spool.ts";

interface OutboxLimits {
  readonly mostResults: number;
  readonly mostBytes: number;
}

/** Results can be made again; a build's list of requests cannot. */
const dropOrder: readonly SpooledKind[] = ["results", "report", "index"];

/**
 * Returns the files to drop above the limits: the oldest results first, and only then reports and indexes. Files that
 * are being sent stay.
 */
export function chooseToDrop<File extends Pick<SpoolFile, "kind" | "items" | "bytes">>(
  files: readonly File[],
  { mostResults, mostBytes }: OutboxLimits,
  isBeingSent: (file: File) => boolean,
): File[] {
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  // Reports and indexes are few, so the same count and limit also apply to them.
  let items = files.reduce((sum, file) => sum + file.items, 0);
  const dropped: File[] = [];
  for (const kind of dropOrder) {
    for (const file of files) {
      if (bytes <= mostBytes && items <= mostResults) return dropped;
      if (file.kind !== kind || isBeingSent(file)) continue;
      dropped.push(file);
      bytes -= file.bytes;
      items -= file.items;
    }
  }
  return dropped;
}
