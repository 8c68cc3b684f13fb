import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface LineOptions {
  /** Added to each round trip, half of it in each direction; a new connection takes one round trip, like TCP's. */
  readonly roundTripMs: number;
  /** For all connections together, in each direction; undefined: unlimited. */
  readonly bytesPerSecond?: number;
}

/** A network connection to a server with a configurable latency and bandwidth, which can be cut. */
export interface SlowLine {
  readonly port: number;
  /** The traffic since the start. */
  readonly carried: { toServer: number; toClient: number; connections: number };
  /**
   * Ends all connections; new ones are refused, or accepted and never answered, until `mend`. `stalled`: connections
   * also stay open, and no data is delivered, as with a disconnected cable.
   */
  cut(how: "refused" | "silent" | "stalled"): void;
  mend(): void;
  close(): Promise<void>;
}

/**
 * The maximum data in transit in one direction of a connection: as much as a real connection
 * buffers.
 */
const mostUnderWay = 4 * 1024 * 1024;

/**
 * Bytes are sent one after the other at the configured speed, and arrive half a round trip later.
 */
export async function slowLine(targetPort: number, options: LineOptions): Promise<SlowLine> {
  const carried = { toServer: 0, toClient: 0, connections: 0 };
  const sockets = new Set<Socket>();
  let state: "open" | "refused" | "silent" | "stalled" = "open";
  const freeAt = { toServer: 0, toClient: 0 };

  function carry(from: Socket, to: Socket, way: "toServer" | "toClient"): void {
    // The relay accepts at once; a server that is so far away would answer the first packet after a round trip.
    const connectedAt = performance.now() + options.roundTripMs;
    /**
     * In one queue: timers of different lengths that end within a millisecond could change the
     * order.
     */
    const onTheWay: { readonly at: number; readonly arrive: () => void }[] = [];
    let underWay = 0;
    let timer: NodeJS.Timeout | undefined;
    const arrivals = () => {
      timer = undefined;
      const now = performance.now();
      let next = onTheWay[0];
      while (next !== undefined && next.at <= now + 0.3) {
        onTheWay.shift();
        if (state !== "stalled") next.arrive();
        next = onTheWay[0];
      }
      if (next !== undefined) timer = setTimeout(arrivals, next.at - now);
    };
    const later = (arrive: () => void) => {
      const now = Math.max(connectedAt, performance.now());
      const at = Math.max(freeAt[way], now) + options.roundTripMs / 2;
      onTheWay.push({ at, arrive });
      if (timer === undefined) arrivals();
    };
    from.on("data", (chunk: Buffer) => {
      if (state === "stalled") {
        // Lost data is not sent again: `mend` ends the connection.
        from.pause();
        return;
      }
      carried[way] += chunk.length;
      const takes = options.bytesPerSecond ? (chunk.length / options.bytesPerSecond) * 1_000 : 0;
      freeAt[way] = Math.max(freeAt[way], performance.now()) + takes;
      underWay += chunk.length;
      if (underWay > mostUnderWay) from.pause();
      later(() => {
        underWay -= chunk.length;
        if (underWay <= mostUnderWay / 2) from.resume();
        if (!to.destroyed) to.write(chunk);
      });
    });
    from.on("end", () => later(() => to.end()));
    from.on("close", () => later(() => to.destroy()));
    from.on("error", () => {});
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    sockets.add(client);
    client.once("close", () => sockets.delete(client));
    if (state === "refused") return client.destroy();
    if (state === "silent" || state === "stalled") return client.on("error", () => {});
    carried.connections++;
    const upstream = connect({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true });
    upstream.setNoDelay(true);
    client.setNoDelay(true);
    sockets.add(upstream);
    upstream.once("close", () => sockets.delete(upstream));
    carry(client, upstream, "toServer");
    carry(upstream, client, "toClient");
    return undefined;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    carried,
    cut(how) {
      state = how;
      if (how !== "stalled") endAll();
    },
    mend() {
      state = "open";
      endAll();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      endAll();
      await closed;
    },
  };
}
