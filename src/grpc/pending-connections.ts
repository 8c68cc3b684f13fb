import type { Socket } from "node:net";
import { myTurn } from "#scheduling/take-turns.ts";

/** An HTTP/2 session takes over half a millisecond to set up, to serve a call and to clear away; a TLS handshake as much and more. */
const sessionMs = 0.7;

/** New connections together get a quarter of the time, like all long work while there is short work. */
const quarters = 4;
/** The most connections in one turn: they take as long as a few small calls. */
const mostInTurn = 8;

interface PendingConnection {
  readonly socket: Socket;
  readonly serve: () => void;
}

/**
 * Connections that wait to be served.
 *
 * They take turns with other long work, all together as one owner: a client that opens a thousand connections in a
 * second delays other new connections, but hardly the existing ones.
 *
 * A turn is for one connection, or for more when it comes late because the machine is busy: so new connections keep their
 * quarter of the time.
 */
export class PendingConnections {
  readonly #waiting: PendingConnection[] = [];

  /** Calls `serve` when it is the connection's turn, unless it is closed by then. */
  add(socket: Socket, serve: () => void): void {
    // There is no other listener yet, and without one an error would end the process.
    socket.on("error", giveUp);
    this.#waiting.push({ socket, serve });
    if (this.#waiting.length === 1) void this.#serveAll();
  }

  /** Drops the connections that wait. */
  destroy(): void {
    for (const { socket } of this.#waiting) socket.destroy();
  }

  async #serveAll(): Promise<void> {
    let turnAt = performance.now();
    while (this.#waiting.length > 0) {
      await myTurn("new connections", sessionMs);
      const now = performance.now();
      const count = connectionsInTurn(now - turnAt);
      turnAt = now;
      for (const { socket, serve } of this.#waiting.splice(0, count)) {
        socket.off("error", giveUp);
        if (!socket.destroyed) serve();
      }
    }
  }
}

/** Returns the number of connections that may be set up in a turn, so long after the one before. */
export function connectionsInTurn(sinceLastMs: number): number {
  const share = Math.floor(sinceLastMs / (quarters * sessionMs));
  return Math.min(mostInTurn, Math.max(1, share));
}

function giveUp(this: Socket): void {
  this.destroy();
}
