import { copyFile, stat, truncate } from "node:fs/promises";

/** Beyond it the log begins anew; the one before it is kept. */
const mostLogBytes = 16 * 1024 * 1024;
const lookEveryMs = 60_000;

/** Keeps the log of this process from filling a machine on which nobody looks for months. */
export function keepLogShort(path: string): void {
  setInterval(() => void shortenLog(path, mostLogBytes).catch(() => {}), lookEveryMs).unref();
}

/**
 * Moves the content of a log that has become too long away while it is written.
 *
 * Its file stays the same, because the writer has it open to append. Text that is written between the two steps is
 * lost.
 */
export async function shortenLog(path: string, mostBytes: number): Promise<void> {
  if ((await stat(path)).size <= mostBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}
