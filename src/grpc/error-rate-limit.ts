import { constants, type Http2Session } from "node:http2";

const windowMs = 10_000;

/** Answers a function to be called for each of what costs us something, and ends the session when that is too often. */
export function errorRateLimit(session: Http2Session, mostInWindow: number): () => void {
  let windowStart = Date.now();
  let count = 0;
  return () => {
    const now = Date.now();
    if (now - windowStart > windowMs) {
      windowStart = now;
      count = 0;
    }
    count++;
    if (count <= mostInWindow || session.destroyed) return;
    // `destroy` alone sends a code only together with an error for each stream.
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  };
}
