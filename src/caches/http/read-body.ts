import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "#core/fault.ts";
import { peerOf } from "#grpc/read-in-turns.ts";
import { piecesInTurns } from "#scheduling/pieces-in-turns.ts";

/** A request body, which the client may send only after "100 Continue". */
interface ComingBody {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly coming: { isAwaited: boolean };
}

/**
 * Returns the bytes of a request, as they arrive.
 *
 * Throws `out_of_range` when there are too many: at once if the client announces the size, otherwise when they have
 * arrived. `discard` reads the rest of the body.
 */
export function bodyOf(
  { request, response, coming }: ComingBody,
  mostBytes: number,
): AsyncIterable<Uint8Array> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > mostBytes) throw tooLarge(mostBytes);
  if (coming.isAwaited || holdsBodyBack(request)) response.writeContinue();
  coming.isAwaited = false;
  return atMost(request, mostBytes);
}

/**
 * ccache's own HTTP client sends the head of a request alone, and its kernel holds the body back until the head is
 * acknowledged. Our kernel delays that acknowledgement by 40 ms, to send it together with a response. "100 Continue" is
 * such a response. Every HTTP/1.1 client must accept it without having requested it (RFC 9110, 15.2); only ccache
 * benefits.
 */
function holdsBodyBack({ headers }: IncomingMessage): boolean {
  return headers["user-agent"]?.startsWith("ccache/") === true;
}

async function* atMost(
  request: IncomingMessage,
  mostBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of chunksOf(request)) {
    size += chunk.byteLength;
    if (size > mostBytes) throw tooLarge(mostBytes);
    yield chunk;
  }
}

function chunksOf(request: IncomingMessage): AsyncIterable<Uint8Array> {
  // A handler that stops reading may still send a response, so the request must not be destroyed with the loop.
  return piecesInTurns(request.iterator({ destroyOnReturn: false }), peerOf(request.socket));
}

function tooLarge(mostBytes: number): Fault {
  return new Fault(
    "out_of_range",
    `an entry has at most ${mostBytes} bytes here (GRANGE_CACHE_ENTRY_BYTES)`,
  );
}

/** Returns a small body in one piece. */
export async function wholeBody(coming: ComingBody, mostBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of bodyOf(coming, mostBytes)) parts.push(chunk);
  return Buffer.concat(parts);
}

/** How much of a refused body is read, and for how long. */
interface DiscardLimits {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * Reads and drops the rest of a body; returns whether it reached the end.
 *
 * A client that is still sending would not read the response, because its connection would break first. Above the
 * limits, the connection is closed.
 */
export async function discard(request: IncomingMessage, limits: DiscardLimits): Promise<boolean> {
  if (request.complete || request.destroyed) return request.complete;
  const timer = setTimeout(() => request.destroy(), limits.ms);
  try {
    let size = 0;
    for await (const chunk of chunksOf(request)) {
      size += chunk.byteLength;
      if (size > limits.bytes) return false;
    }
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
