import type { Http2Session } from "node:http2";

/**
 * Detects a lost peer: a disconnected cable sends no message.
 *
 * Pings every `intervalMs`; when an answer takes over `timeoutMs`, destroys the session, and with it every call on it.
 */
export function keepAlive(session: Http2Session, intervalMs: number, timeoutMs: number): void {
  let waiting: NodeJS.Timeout | undefined;
  const beat = setInterval(() => {
    if (waiting !== undefined || session.destroyed) return;
    waiting = setTimeout(() => session.destroy(), timeoutMs);
    const sent = session.ping(() => {
      clearTimeout(waiting);
      waiting = undefined;
    });
    // Not sent: too many are in flight, or the session is closing. The timeout decides.
    if (!sent && session.destroyed) clearTimeout(waiting);
  }, intervalMs);
  beat.unref();
  session.once("close", () => {
    clearInterval(beat);
    clearTimeout(waiting);
  });
}
