import { Socket } from "node:net";
import { finished } from "node:stream/promises";
import { CapturedLog } from "../logs/captured-log.ts";
import type { FifoPool } from "../logs/fifo-pool.ts";

/** Returns a complete log with a text, as if a process had printed it. The caller must close it. */
export async function writtenLog(
  path: string,
  pipes: FifoPool,
  text: string,
  limitBytes: number,
): Promise<CapturedLog> {
  const { readEnd, writeEnd } = await pipes.take();
  const log = new CapturedLog(path, readEnd, limitBytes);
  const pipe = new Socket({ fd: writeEnd, readable: false, writable: true });
  pipe.end(text);
  await finished(pipe, { readable: false });
  await log.end();
  return log;
}
