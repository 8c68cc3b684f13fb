import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { dirname } from "node:path";
import type { Service } from "#core/service.ts";
import type { ProtocolConnectionParts } from "./conversation.ts";
import { trackEndingBuilds } from "./ending-builds.ts";
import { type ProtocolConnection, startProtocolConnection } from "./protocol-connection.ts";

interface ServerParts extends Omit<ProtocolConnectionParts, "endingBuilds"> {
  readonly socketPath: string;
  /** Required from clients over TCP: any user of the machine can connect there. */
  readonly secret: string;
}

interface ProtocolServer extends Service {
  /** On 127.0.0.1. */
  readonly port: number;
}

/** Serves build systems on a socket of this user, and on a port of this machine. */
export async function serveProtocol(parts: ServerParts): Promise<ProtocolServer> {
  const open = new Set<ProtocolConnection>();
  const endingBuilds = trackEndingBuilds(parts.logger);
  const connectionParts = { ...parts, endingBuilds };
  const serve = (secret: string | undefined) =>
    // Half open: a client that has sent everything still gets the end of its build.
    createServer({ allowHalfOpen: true }, (socket) => {
      const connection = startProtocolConnection(connectionParts, socket, secret);
      open.add(connection);
      void connection.over.then(() => open.delete(connection));
    });
  const local = serve(undefined);
  const tcp = serve(parts.secret);
  await mkdir(dirname(parts.socketPath), { recursive: true, mode: 0o700 });
  // The holder of the data directory's lock owns its socket.
  await rm(parts.socketPath, { force: true });
  await listen(local, { path: parts.socketPath });
  await chmod(parts.socketPath, 0o600);
  const port = await listen(tcp, { host: "127.0.0.1", port: 0 });

  return {
    port,
    async stop() {
      const closed = [local, tcp].map((server) => new Promise((done) => server.close(done)));
      for (const connection of open) connection.end();
      await Promise.all([...open].map((connection) => connection.over));
      await endingBuilds.over();
      await Promise.all(closed);
      await rm(parts.socketPath, { force: true });
    },
  };
}

function listen(
  server: Server,
  where: { path: string } | { host: string; port: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
