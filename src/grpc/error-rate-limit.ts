import { constants, type Http2Session } from "node:http2";

const windowMs = 10_000;

/** Returns a function that must be called for each costly error; it ends the session when there are too many. */
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
