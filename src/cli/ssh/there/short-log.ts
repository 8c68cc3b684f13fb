import { copyFile, stat, truncate } from "node:fs/promises";

/** Beyond this size a new log begins; the previous one is kept. */
const mostLogBytes = 16 * 1024 * 1024;
const lookEveryMs = 60_000;

/** Limits the log of this process, so that it cannot fill an unattended machine. */
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
