/**
 * A server that reads what comes, keeps nothing, and answers every call that ends with an empty one:
 * `sink.ts`. Says its URL to its parent. What attackers cost a machine, they cost with it, too.
 */
import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer } from "node:net";

const http2 = createHttp2Server({ settings: { initialWindowSize: 4 * 1_048_576 } });
http2.on("session", (session) => {
  session.on("error", () => {});
  session.setLocalWindowSize(16 * 1_048_576);
});
http2.on("stream", (stream) => {
  stream.on("error", () => {});
  stream.resume();
  stream.once("end", () => {
    if (stream.destroyed || stream.closed || stream.session?.destroyed !== false) return;
    const headers = { ":status": 200, "content-type": "application/grpc", "grpc-status": "0" };
    stream.respond(headers, { endStream: true });
  });
});

const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.once("data", (first) => {
    if (!first.subarray(0, 3).equals(Buffer.from("PRI"))) return void socket.resume();
    socket.pause();
    socket.unshift(first);
    http2.emit("connection", socket);
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
// Whoever is cut off leaves nobody at work.
process.once("disconnect", () => process.exit());
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
