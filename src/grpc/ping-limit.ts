import { constants, type Http2Session } from "node:http2";

const windowMs = 10_000;
/** grpc-java and grpc-go ping at most every 10 s, and to measure bandwidth up to 10 times a second. */
const mostInWindow = 1_000;

/** Ends a session whose peer does little but ping; each costs us an answer. */
export function limitPings(session: Http2Session): void {
  let windowStart = Date.now();
  let count = 0;
  session.on("ping", () => {
    const now = Date.now();
    if (now - windowStart > windowMs) {
      windowStart = now;
      count = 0;
    }
    count++;
    if (count > mostInWindow) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
}
