import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { noteCertificate } from "./issued-to.ts";
import type { UndecidedSockets } from "./undecided-sockets.ts";

/** A certificate and its key, in PEM. Another one is another object. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
  /** Authorities in PEM whose client certificates are accepted. No certificate is requested when absent. */
  readonly clientCa?: string | undefined;
}

/**
 * In our order, which counts: browsers and curl offer both, and only HTTP/1.1 has the pages
 * and the API. gRPC clients offer nothing but h2.
 */
const offered = ["http/1.1", "h2"];

/** Takes connections through their TLS handshake, and then gives them to `secured`. */
export function tlsHandshakes(
  identity: () => TlsIdentity,
  undecided: UndecidedSockets,
  secured: (socket: TLSSocket) => void,
): (socket: Socket) => void {
  let shown = identity();
  const contextOf = ({ cert, key, clientCa }: TlsIdentity) =>
    ({
      cert,
      key,
      minVersion: "TLSv1.2",
      ...(clientCa === undefined ? {} : { ca: clientCa }),
    }) as const;
  // It never listens. Node's server is the only access to everything that a handshake needs.
  const server = createServer({
    ...contextOf(shown),
    ALPNProtocols: offered,
    requestCert: shown.clientCa !== undefined,
    // Browsers have none, and those with tokens need none.
    rejectUnauthorized: false,
  });
  const underWay = new Map<string, () => void>();
  server.on("secureConnection", (socket) => {
    underWay.get(connectionName(socket))?.();
    if (shown.clientCa !== undefined) noteCertificate(socket);
    secured(socket);
  });
  server.on("tlsClientError", (_, socket) => void socket.destroy());

  return (socket) => {
    const newest = identity();
    if (newest !== shown) server.setSecureContext(contextOf(newest));
    shown = newest;
    const name = connectionName(socket);
    const settled = undecided.add(socket);
    const forget = () => {
      settled();
      underWay.delete(name);
      socket.off("close", forget);
    };
    underWay.set(name, forget);
    socket.on("close", forget);
    server.emit("connection", socket);
  };
}

/** Tells a connection from all others of this machine; under TLS it is still the same. */
function connectionName({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}
