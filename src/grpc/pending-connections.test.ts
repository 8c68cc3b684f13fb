import { Socket } from "node:net";
import { expect, test } from "vitest";
import { connectionsInTurn, PendingConnections } from "./pending-connections.ts";

test("lets connections in by their order, and not those that are closed by then", async () => {
  const pendingConnections = new PendingConnections();
  const went: string[] = [];
  const last = new Promise<void>((resolve) => {
    const left = new Socket();
    pendingConnections.add(new Socket(), () => went.push("first"));
    pendingConnections.add(left, () => went.push("left"));
    pendingConnections.add(new Socket(), () => {
      went.push("last");
      resolve();
    });
    left.destroy(new Error("reset"));
  });
  await last;
  expect(went).toEqual(["first", "last"]);
});

test("lets nobody in once it is to end", async () => {
  const pendingConnections = new PendingConnections();
  const socket = new Socket();
  let isIn = false;
  pendingConnections.add(socket, () => {
    isIn = true;
  });
  pendingConnections.destroy();
  await new Promise<void>((resolve) => pendingConnections.add(new Socket(), resolve));
  expect(socket.destroyed).toBe(true);
  expect(isIn).toBe(false);
});

test("leaves no listener of its own with a connection that is in", async () => {
  const socket = new Socket();
  await new Promise<void>((resolve) => new PendingConnections().add(socket, resolve));
  expect(socket.listenerCount("error")).toBe(0);
});

test("a turn that comes late is for more connections, but for few", () => {
  expect([0, 2, 6, 12, 1_000].map(connectionsInTurn)).toEqual([1, 1, 2, 4, 8]);
});
