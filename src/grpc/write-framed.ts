import type { Writable } from "node:stream";
import { framed, type Payload } from "./frame.ts";

/** Sends one message; resolves when the peer is ready for the next, or the stream is closed. */
export async function writeFramed(stream: Writable, payload: Payload): Promise<void> {
  const parts = framed(payload);
  // Corked, header and parts leave as one write.
  if (parts.length > 1) stream.cork();
  let ready = true;
  for (const part of parts) ready = stream.write(part);
  if (parts.length > 1) stream.uncork();
  if (!ready && stream.writableNeedDrain) await drained(stream);
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done);
      stream.off("close", done);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
  });
}
