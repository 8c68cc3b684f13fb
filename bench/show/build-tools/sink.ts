/**
 * A server that reads everything, stores nothing, and answers every completed call with an empty message: `sink.ts`.
 * Sends its URL to its parent. The attackers' own cost for a machine is the same with it.
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
// Exits when the parent has disconnected.
process.once("disconnect", () => process.exit());
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
