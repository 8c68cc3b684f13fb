import { copyFile, stat, truncate } from "node:fs/promises";

/** Above this size a new log is started; the previous one is kept. */
const mostLogBytes = 16 * 1024 * 1024;
const lookEveryMs = 60_000;

/** Limits the log of this process, so that it cannot fill an unattended machine. */
export function keepLogShort(path: string): void {
  setInterval(() => void shortenLog(path, mostLogBytes).catch(() => {}), lookEveryMs).unref();
}

/**
 * Moves the content of a log that has become too long to another file while the log is written.
 *
 * The log's file stays the same, because the writer has it open for appending. Text that is written between the two
 * steps is lost.
 */
export async function shortenLog(path: string, mostBytes: number): Promise<void> {
  if ((await stat(path)).size <= mostBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}
