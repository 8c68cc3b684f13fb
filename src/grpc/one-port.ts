import type { Server as HttpServer } from "node:http";
import type { Http2Server } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { PendingConnections } from "./pending-connections.ts";
import { type TlsIdentity, tlsHandshakes } from "./tls-handshakes.ts";
import { UndecidedSockets } from "./undecided-sockets.ts";

/** The first bytes of every HTTP/2 connection without ALPN. Source: RFC 9113, section 3.4. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Returns the protocol of a connection by its first bytes; unknown while they are a prefix of the preface. */
export function protocolOf(bytes: Buffer): "http1" | "http2" | "unknown" {
  const length = Math.min(bytes.length, preface.length);
  if (!bytes.subarray(0, length).equals(preface.subarray(0, length))) return "http1";
  return length === preface.length ? "http2" : "unknown";
}

interface OnePortOptions {
  /** A connection that has not shown its protocol within this time, in ms, is closed; handshakes count. */
  readonly silenceMs?: number;
  /** When present, only TLS is accepted, with the current identity, because certificates are renewed. */
  readonly identity?: (() => TlsIdentity) | undefined;
}

/**
 * One TCP port for HTTP/1.1 and HTTP/2, with or without TLS.
 *
 * Neither server listens itself; each gets the connections of its protocol. Closing the returned server closes
 * connections whose protocol is unknown; the two servers close their own.
 */
export function onePort(
  http1: HttpServer,
  http2: Http2Server,
  { silenceMs = 10_000, identity }: OnePortOptions = {},
): Server {
  const undecided = new UndecidedSockets(silenceMs);

  const handOver = (socket: Socket, protocol: "http1" | "http2") => {
    // An HTTP/1.1 client may end its side and still wait for the answer; an HTTP/2 client has left.
    socket.allowHalfOpen = protocol === "http1";
    if (protocol === "http1") {
      http1.emit("connection", socket);
      socket.resume();
    } else {
      // An HTTP/2 session reads the buffered bytes itself, and then the socket's handle.
      http2.emit("connection", socket);
    }
  };

  const pendingConnections = new PendingConnections();
  const byFirstBytes = (socket: Socket) =>
    undecided.listen(socket, (bytes) => {
      const protocol = protocolOf(bytes);
      if (protocol === "unknown") return undefined;
      return () => pendingConnections.add(socket, () => handOver(socket, protocol));
    });

  const shakeHands =
    identity &&
    tlsHandshakes(identity, undecided, (socket) => {
      if (socket.alpnProtocol === "h2") return handOver(socket, "http2");
      if (socket.alpnProtocol === "http/1.1") return handOver(socket, "http1");
      // Node's HTTP/2 server refuses clients without ALPN, but they may still use HTTP/2 here.
      socket.alpnProtocol = null;
      return byFirstBytes(socket);
    });

  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    if (shakeHands === undefined) byFirstBytes(socket);
    else {
      undecided.listen(socket, ([first]) =>
        first === handshakeRecord
          ? () => pendingConnections.add(socket, () => shakeHands(socket))
          : () => refuseClear(socket),
      );
    }
  });

  // An http.Server starts its timeouts for slow requests when it listens, and ours never does.
  server.on("listening", () => http1.emit("listening"));

  const close = server.close.bind(server);
  server.close = (done) => {
    undecided.destroy();
    pendingConnections.destroy();
    return close(done);
  };
  return server;
}

/** Ends a port of `onePort` with both servers: running calls have `graceMs`, idle connections none. */
export async function stopOnePort(
  port: Server,
  http1: HttpServer,
  grpc: { stop(): Promise<void> },
  graceMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => port.close(() => resolve()));
  http1.closeIdleConnections();
  const cut = setTimeout(() => http1.closeAllConnections(), graceMs);
  await grpc.stop();
  http1.closeAllConnections();
  await closed;
  clearTimeout(cut);
}

/** The first byte of every TLS connection. */
const handshakeRecord = 0x16;

const needsTls =
  "This farm speaks TLS only: write https:// before its address (grpcs:// for build tools).\n";

function refuseClear(socket: Socket): void {
  socket.on("error", () => socket.destroy());
  socket.resume();
  socket.end(
    "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n" +
      `content-length: ${needsTls.length}\r\n\r\n${needsTls}`,
    () => socket.destroySoon(),
  );
}
