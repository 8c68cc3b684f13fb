import type { Context } from "hono";
import type { LogPiece } from "../log-piece.ts";

/** Answers with a part of a log of at most `limit` bytes, as text that no browser displays as a page. */
export function logAnswer(c: Context, piece: LogPiece, limit: number): Response {
  c.header("content-type", "text/plain; charset=utf-8");
  c.header("x-next-offset", String(piece.nextOffset));
  c.header("x-log-attempt", String(piece.attempt));
  c.header("x-log-complete", String(piece.complete && piece.bytes.length < limit));
  return c.body(new Uint8Array(piece.bytes).buffer);
}
