import type { Socket } from "node:net";

/** Connections whose protocol is not known yet. They are closed after a time limit. */
export class UndecidedSockets {
  readonly #sockets = new Set<Socket>();
  readonly #silenceMs: number;

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  /** Counts a connection as undecided. Call the returned function when it is decided. */
  add(socket: Socket): () => void {
    this.#sockets.add(socket);
    const timer = setTimeout(() => socket.destroy(), this.#silenceMs);
    const settled = () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
      socket.off("close", settled);
    };
    socket.on("close", settled);
    return settled;
  }

  /**
   * Reads the first bytes of a connection until `judge` knows its server. The bytes are put back before the socket is
   * handed over.
   */
  listen(socket: Socket, judge: (bytes: Buffer) => (() => void) | undefined): void {
    const settled = this.add(socket);
    const giveUp = () => socket.destroy();
    let seen: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
      const handOver = judge(seen);
      if (handOver === undefined) return;
      settled();
      socket.off("data", onData);
      socket.off("error", giveUp);
      socket.off("end", giveUp);
      socket.pause();
      socket.unshift(seen);
      handOver();
    };
    socket.on("data", onData);
    socket.on("error", giveUp);
    socket.on("end", giveUp);
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
