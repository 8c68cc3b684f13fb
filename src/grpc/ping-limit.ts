import type { Http2Session } from "node:http2";
import { errorRateLimit } from "./error-rate-limit.ts";

/** grpc-java and grpc-go ping at most every 10 s, and to measure bandwidth up to 10 times a second. */
const mostInWindow = 1_000;

/** Ends a session whose peer does little but ping; each costs us an answer. */
export function limitPings(session: Http2Session): void {
  session.on("ping", errorRateLimit(session, mostInWindow));
}
