import type { Http2Session } from "node:http2";
import type { Socket } from "node:net";
import { bytesOfAPiece, bytesPerMs, turnBytes } from "#scheduling/pieces-in-turns.ts";
import { isAnotherOwnerWaiting, myTurn } from "#scheduling/take-turns.ts";

/** The handle from which a session reads; no public function pauses it. */
interface Handle {
  readonly bytesRead: number;
  /** Above 0 while the session's answers wait for its peer. */
  readonly writeQueueSize: number;
  readStart(): void;
  readStop(): void;
}

/** Returns the owner for turns: each connection is its own owner. */
export function peerOf(socket: Pick<Socket, "remoteAddress" | "remotePort"> | undefined): string {
  return `${socket?.remoteAddress}:${socket?.remotePort}`;
}

/**
 * Reads a session's connection in turns with short work of others: receiving 4 MiB and cutting them into frames takes
 * the event loop as long as decoding them. Returns a function to call whenever bytes have arrived.
 *
 * Unread bytes wait at the sender, so this holds no memory. Neither does a connection whose messages wait for their
 * handlers: it is read again when some are done.
 */
export function readInTurns(
  session: Http2Session,
  held?: { untilReadable(): Promise<void> | undefined },
): () => void {
  const { socket } = session;
  const handle = handleOf(socket);
  // Without it, only fairness is lost.
  if (handle === undefined) return () => {};
  const who = peerOf(socket);
  let seen = 0;
  // Node itself reads 2 MiB of one connection before it looks at another.
  let owedBytes = 0;
  let isWaiting = false;

  const goOn = () => {
    isWaiting = false;
    // While an answer waits for its peer, the session itself reads nothing, and continues when the answer is sent.
    if (!session.destroyed && handle.writeQueueSize === 0) handle.readStart();
  };

  return () => {
    if (session.destroyed) return;
    const { bytesRead } = handle;
    owedBytes += Math.max(bytesRead - seen, bytesOfAPiece);
    seen = bytesRead;
    // The session continues by itself after each of its answers.
    if (isWaiting) return handle.readStop();
    const readable = held?.untilReadable();
    if (readable !== undefined) {
      isWaiting = true;
      handle.readStop();
      void readable.then(goOn);
      return;
    }
    if (owedBytes < turnBytes) return;
    const owedMs = owedBytes / bytesPerMs;
    owedBytes = 0;
    if (!isAnotherOwnerWaiting(who)) return;
    isWaiting = true;
    handle.readStop();
    void myTurn(who, owedMs).then(goOn);
  };
}

function handleOf(socket: Http2Session["socket"]): Handle | undefined {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Partial<Handle> };
  const isOne = typeof handle?.readStart === "function" && typeof handle.readStop === "function";
  return isOne ? (handle as Handle) : undefined;
}
