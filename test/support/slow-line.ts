import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface LineOptions {
  /** Added to each round trip; half of it each way. */
  readonly roundTripMs: number;
  /** Of all connections together, each way; undefined: as fast as it goes. */
  readonly bytesPerSecond?: number;
}

/** A line to a server: as long and as narrow as one likes, and it can be cut. */
export interface SlowLine {
  readonly port: number;
  /** What has gone through it since it was opened. */
  readonly carried: { toServer: number; toClient: number; connections: number };
  /**
   * Ends all connections; new ones are refused, or taken and never answered, until `mend`. `stalled`: connections stay
   * as well, and nothing comes through any more, as when a cable is pulled.
   */
  cut(how: "refused" | "silent" | "stalled"): void;
  mend(): void;
  close(): Promise<void>;
}

/** What may be under way in one direction of a connection: no more than a buffer of a real line. */
const mostUnderWay = 4 * 1024 * 1024;

/** Bytes leave one after the other at the line's speed, and arrive half a round trip later. */
export async function slowLine(targetPort: number, options: LineOptions): Promise<SlowLine> {
  const carried = { toServer: 0, toClient: 0, connections: 0 };
  const sockets = new Set<Socket>();
  let state: "open" | "refused" | "silent" | "stalled" = "open";
  const freeAt = { toServer: 0, toClient: 0 };

  function carry(from: Socket, to: Socket, way: "toServer" | "toClient"): void {
    /** In order: timers of different lengths that end within a millisecond would not be. */
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
      const at = Math.max(freeAt[way], performance.now()) + options.roundTripMs / 2;
      onTheWay.push({ at, arrive });
      if (timer === undefined) arrivals();
    };
    from.on("data", (chunk: Buffer) => {
      if (state === "stalled") {
        // What is lost is not missed: `mend` ends the connection.
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
