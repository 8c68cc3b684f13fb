import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { gatheringSocket } from "./gathering-socket.ts";

test("what is written in one turn of the event loop is sent as one piece, in order", async () => {
  const received: string[] = [];
  const server = createServer((connection) =>
    connection.on("data", (bytes) => received.push(bytes.toString())),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = gatheringSocket();
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  const pieces: number[] = [];
  const sendAll = socket._writev?.bind(socket);
  socket._writev = (chunks, done) => {
    pieces.push(chunks.length);
    sendAll?.(chunks, done);
  };
  socket.connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");

  for (const statement of ["a", "b", "c"]) {
    // As node-postgres writes the parts of one statement.
    socket.cork();
    socket.write(`${statement}1 `);
    socket.write(`${statement}2 `);
    socket.uncork();
    await Promise.resolve();
  }

  await expect.poll(() => received.join("")).toBe("a1 a2 b1 b2 c1 c2 ");
  expect(pieces).toEqual([6]);
});
