import type { ServerResponse } from "node:http";
import type { Answer } from "../tool-rules.ts";

/** The served bytes come from clients: no browser may interpret them. */
const safety = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
} as const;

type Headers = Readonly<Record<string, string | number>>;

export function sendAnswer(
  response: ServerResponse,
  { status, headers, body = "" }: Answer,
  headOnly: boolean,
): void {
  const bytes = Buffer.from(body);
  const length = status === 204 ? {} : { "content-length": bytes.byteLength };
  response.writeHead(status, { ...safety, ...headers, ...length });
  response.end(headOnly ? undefined : bytes);
}

/** Sends the head of a value; the bytes follow by `sendBytes` or `sendChunks`. */
export function sendHead(response: ServerResponse, status: number, headers: Headers): void {
  response.writeHead(status, {
    ...safety,
    "content-type": "application/octet-stream",
    "accept-ranges": "bytes",
    ...headers,
  });
}

/** The memory that each slow client may use. */
const mostOnTheWay = 512 * 1024;

/**
 * Sends chunks as fast as the client reads them; returns whether all were sent.
 *
 * When the source fails, the connection is closed: the length was announced, so the client detects that bytes are
 * missing.
 */
export async function sendChunks(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  try {
    for await (const chunk of chunks) {
      if (response.destroyed) return false;
      response.write(chunk);
      // The next chunks are read and checked while some are in flight.
      if (response.writableLength > mostOnTheWay) await drained(response);
    }
  } catch (reason) {
    response.destroy();
    throw reason;
  }
  response.end();
  return true;
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
