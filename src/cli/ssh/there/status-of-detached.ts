import { open } from "node:fs/promises";
import type { Status } from "../worker-settings.ts";
import { WorkerFolder } from "./worker-folder.ts";

const shownLines = 5;
const readBytes = 16 * 1024;

export async function statusOfDetached(directory: string, name: string): Promise<Status> {
  const folder = new WorkerFolder(directory, name);
  const running = await folder.running();
  return {
    running: running !== undefined,
    pid: running?.pid ?? null,
    since: running?.since ?? null,
    server: (await folder.server()) ?? null,
    log: folder.logFile,
    lastLines: await lastLines(folder.logFile),
  };
}

async function lastLines(path: string): Promise<string[]> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return [];
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - readBytes);
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(size, readBytes)),
      position: from,
    });
    const lines = buffer.subarray(0, bytesRead).toString("utf8").split("\n").filter(Boolean);
    return lines.slice(-shownLines);
  } finally {
    await file.close();
  }
}
