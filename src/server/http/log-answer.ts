import type { Context } from "hono";
import type { LogPiece } from "../log-piece.ts";

/** The most bytes of a log in one answer; the client continues at `X-Next-Offset`. */
export const mostLogBytes = 4 * 1024 * 1024;

/** Answers with a part of a log, as text that no browser displays as a page. */
export function logAnswer(c: Context, piece: LogPiece): Response {
  c.header("content-type", "text/plain; charset=utf-8");
  c.header("x-next-offset", String(piece.nextOffset));
  c.header("x-log-attempt", String(piece.attempt));
  c.header("x-log-complete", String(piece.complete && piece.bytes.length < mostLogBytes));
  return c.body(new Uint8Array(piece.bytes).buffer);
}
