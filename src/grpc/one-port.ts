import type { Server as HttpServer } from "node:http";
import type { Http2Server } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";

/** What every HTTP/2 connection without TLS begins with. Source: RFC 9113, section 3.4. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** What the bytes so far tell of a connection. A prefix of the preface tells nothing yet. */
export function protocolOf(bytes: Buffer): "http1" | "http2" | "unknown" {
  const length = Math.min(bytes.length, preface.length);
  if (!bytes.subarray(0, length).equals(preface.subarray(0, length))) return "http1";
  return length === preface.length ? "http2" : "unknown";
}

/**
 * One TCP port for HTTP/1.1 and HTTP/2.
 *
 * Neither server listens itself; each gets the connections that speak its protocol.
 * A connection that has not said which within `silenceMs` is closed. Closing the
 * returned server closes those that are still undecided; the two servers end their own.
 */
export function onePort(http1: HttpServer, http2: Http2Server, silenceMs = 10_000): Server {
  const undecided = new Set<Socket>();

  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    undecided.add(socket);
    const timer = setTimeout(() => socket.destroy(), silenceMs);
    const forget = () => {
      clearTimeout(timer);
      undecided.delete(socket);
    };
    const giveUp = () => socket.destroy();
    let seen: Buffer = Buffer.alloc(0);
    const listen = (chunk: Buffer) => {
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
      const protocol = protocolOf(seen);
      if (protocol === "unknown") return;
      forget();
      socket.off("data", listen);
      socket.off("close", forget);
      socket.off("error", giveUp);
      socket.off("end", giveUp);
      // An HTTP/1.1 client may end its side and still wait for the answer; an HTTP/2 client has left.
      socket.allowHalfOpen = protocol === "http1";
      socket.pause();
      socket.unshift(seen);
      if (protocol === "http1") {
        http1.emit("connection", socket);
        socket.resume();
      } else {
        // An HTTP/2 session reads the buffered bytes itself, and then the socket's handle.
        http2.emit("connection", socket);
      }
    };
    socket.on("data", listen);
    socket.on("close", forget);
    socket.on("error", giveUp);
    socket.on("end", giveUp);
  });

  // An http.Server starts its timeouts for slow requests when it listens, and ours never does.
  server.on("listening", () => http1.emit("listening"));

  const close = server.close.bind(server);
  server.close = (done) => {
    for (const socket of undecided) socket.destroy();
    return close(done);
  };
  return server;
}
