import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { awaitWhileAlive } from "./await-while-alive.ts";

let root: string;
let server: Server;
const sockets = new Set<Socket>();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "grange-greets-"));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  rmSync(root, { recursive: true });
});

/** Answers each of the socket's clients this many times, and then accepts connections without answering. */
async function greeting(times: number, onGreeted: (greeted: number) => void = () => {}) {
  let greeted = 0;
  server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("data", () => {
      if (greeted === times) return;
      greeted += 1;
      socket.write(`${JSON.stringify({ type: "welcome", version: 1, to: 1 })}\n`);
      onGreeted(greeted);
    });
  });
  const path = join(root, "socket");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

test("waits for one that has much to do and greets", async () => {
  const done = new EventEmitter();
  const path = await greeting(Number.POSITIVE_INFINITY, (greeted) => {
    if (greeted === 5) done.emit("done", "all of it");
  });

  const [said] = await awaitWhileAlive(once(done, "done"), path, { betweenMs: 5, greetMs: 30_000 });
  expect(said).toBe("all of it");
});

test("gives up one that takes connections and says nothing", async () => {
  const path = await greeting(2);

  const waiting = awaitWhileAlive(new Promise(() => {}), path, { betweenMs: 5, greetMs: 50 });

  await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
});

test("says what the answer says when there is one", async () => {
  const path = await greeting(0);
  const owed = Promise.reject(new Error("refused"));

  await expect(awaitWhileAlive(owed, path)).rejects.toThrow("refused");
});
