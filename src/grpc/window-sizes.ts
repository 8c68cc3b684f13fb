import type { Http2Session, Settings } from "node:http2";

/**
 * How much may be in flight before the receiver sends an update.
 *
 * HTTP/2's own 64 KiB would stop one stream 16 times per MiB. The session's window is four streams' worth, so that one
 * upload cannot starve the rest.
 */
const streamWindowBytes = 4 * 1_048_576;
const sessionWindowBytes = 4 * streamWindowBytes;

/** Headers of one call may take this much; larger ones end the stream with ENHANCE_YOUR_CALM. */
const mostHeaderBytes = 16_384;

export const ourSettings: Settings = {
  initialWindowSize: streamWindowBytes,
  maxHeaderListSize: mostHeaderBytes,
  enablePush: false,
};

/**
 * Node counts queued bytes and streams against this, in MB, and past it refuses new
 * streams without a word. Our own limits (`HeldBytes`) are to be met first.
 */
export const sessionMemoryMb = 512;

export function widenSession(session: Http2Session): void {
  session.setLocalWindowSize(sessionWindowBytes);
}
