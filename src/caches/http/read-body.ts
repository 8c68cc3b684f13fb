import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "#core/fault.ts";
import { peerOf } from "#grpc/read-in-turns.ts";
import { piecesInTurns } from "#scheduling/pieces-in-turns.ts";

/** A body, for which the client may have to be asked. */
interface ComingBody {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly coming: { isAwaited: boolean };
}

/**
 * Returns the bytes of a request, as they arrive.
 *
 * Throws `out_of_range` when they are too many: at once if the client announces the size, otherwise when they have
 * arrived. The rest of the body is left to `discard`.
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
 * ccache's own HTTP sends the head of a request alone, and its kernel keeps the body back until that has been
 * acknowledged: which ours, hoping for an answer to send along, puts off by 40 ms. "Go on" is such an answer. Any
 * client of HTTP/1.1 must bear it unasked (RFC 9110, 15.2); none but this one gains by it.
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
  // Who stops reading here may still want to answer: the request must outlive its loop.
  return piecesInTurns(request.iterator({ destroyOnReturn: false }), peerOf(request.socket));
}

function tooLarge(mostBytes: number): Fault {
  return new Fault(
    "out_of_range",
    `an entry has at most ${mostBytes} bytes here (GRANGE_CACHE_ENTRY_BYTES)`,
  );
}

/** A small body as one. */
export async function wholeBody(coming: ComingBody, mostBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of bodyOf(coming, mostBytes)) parts.push(chunk);
  return Buffer.concat(parts);
}

/** How much of a refused body is taken in, and for how long. */
interface DiscardLimits {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * Reads and drops the rest of a body; returns whether it reached the end.
 *
 * A client that is still sending would not read the answer: its connection would break first. Above the limits it does
 * break.
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
