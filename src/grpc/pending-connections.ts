import type { Socket } from "node:net";
import { myTurn } from "#scheduling/take-turns.ts";

/** An HTTP/2 session takes over half a millisecond to set up, to serve a call and to clear away; a TLS handshake as much and more. */
const sessionMs = 0.7;

interface PendingConnection {
  readonly socket: Socket;
  readonly goIn: () => void;
}

/**
 * Connections that wait to be served.
 *
 * They take turns with other long work, all together as one owner: a client that opens a thousand connections in a
 * second delays other new connections, but hardly the existing ones.
 */
export class PendingConnections {
  readonly #waiting: PendingConnection[] = [];

  /** Calls `goIn` when it is the connection's turn, unless it is closed by then. */
  letIn(socket: Socket, goIn: () => void): void {
    // There is no other listener yet, and without one an error would end the process.
    socket.on("error", giveUp);
    this.#waiting.push({ socket, goIn });
    if (this.#waiting.length === 1) void this.#letAllIn();
  }

  /** Drops the connections that wait. */
  destroy(): void {
    for (const { socket } of this.#waiting) socket.destroy();
  }

  async #letAllIn(): Promise<void> {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      await myTurn("newcomers", sessionMs);
      this.#waiting.shift();
      first.socket.off("error", giveUp);
      if (!first.socket.destroyed) first.goIn();
    }
  }
}

function giveUp(this: Socket): void {
  this.destroy();
}
