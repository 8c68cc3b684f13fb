import { readLog } from "./read-log.ts";

/** Saves a log's own bytes, all of them, as a file. */
export async function downloadLog(url: string, fileName: string): Promise<void> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of readLog(url)) parts.push(part);
  const file = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = file;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(file);
}
