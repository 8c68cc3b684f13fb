import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A load balancer for connections, round robin, without sticky sessions: HTTP/1.1 and HTTP/2 pass unchanged. */
export interface TcpBalancer {
  readonly url: string;
  add(url: string): void;
  remove(url: string): void;
  close(): Promise<void>;
}

const checkEveryMs = 200;
const answerWithinMs = 1_000;

/**
 * Starts a balancer on a free port. Each 200 ms it asks `checkPath` of each server, if it is given, and gives new
 * connections only to servers that answered with 200. A connection that a server refuses goes to the next one.
 */
export async function tcpBalancer(checkPath?: string): Promise<TcpBalancer> {
  const servers = new Map<string, { isReady: boolean }>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const closing = new AbortController();

  const readyOnes = () => {
    const ready = [...servers].flatMap(([url, { isReady }]) => (isReady ? [url] : []));
    const first = turn++ % Math.max(1, ready.length);
    return [...ready.slice(first), ...ready.slice(0, first)];
  };
  const listener = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    track(client, sockets);
    join(client, readyOnes(), sockets);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  const check = async () => {
    while (!closing.signal.aborted) {
      await Promise.all(
        [...servers].map(async ([url, server]) => {
          server.isReady = await isReady(`${url}${checkPath}`);
        }),
      );
      await delay(checkEveryMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  };
  const checking = checkPath === undefined ? undefined : check();

  return {
    url: `http://127.0.0.1:${port}`,
    add: (url) => void servers.set(url, { isReady: true }),
    remove: (url) => void servers.delete(url),
    async close() {
      closing.abort();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
      await checking;
    },
  };
}

function isReady(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(answerWithinMs) }).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.ok;
    },
    () => false,
  );
}

/** Connects a client to the first server that accepts; without one, the client's connection is closed. */
function join(client: Socket, [url, ...others]: readonly string[], sockets: Set<Socket>): void {
  if (url === undefined || client.destroyed) {
    client.destroy();
    return;
  }
  const { hostname, port } = new URL(url);
  const server = connect({ port: Number(port), host: hostname, noDelay: true });
  track(server, sockets);
  const onRefused = () => join(client, others, sockets);
  server.once("error", onRefused);
  server.once("connect", () => {
    server.off("error", onRefused);
    client.pipe(server).pipe(client);
    // A connection that breaks on one side must break on the other, too.
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
    client.resume();
  });
}

function track(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.on("error", () => {});
  socket.on("close", () => sockets.delete(socket));
}
