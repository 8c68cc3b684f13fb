import { Socket } from "node:net";
import { expect, test } from "vitest";
import { Newcomers } from "./newcomers.ts";

test("lets connections in by their order, and not those that are closed by then", async () => {
  const newcomers = new Newcomers();
  const went: string[] = [];
  const last = new Promise<void>((resolve) => {
    const left = new Socket();
    newcomers.letIn(new Socket(), () => went.push("first"));
    newcomers.letIn(left, () => went.push("left"));
    newcomers.letIn(new Socket(), () => {
      went.push("last");
      resolve();
    });
    left.destroy(new Error("reset"));
  });
  await last;
  expect(went).toEqual(["first", "last"]);
});

test("lets nobody in once it is to end", async () => {
  const newcomers = new Newcomers();
  const socket = new Socket();
  let isIn = false;
  newcomers.letIn(socket, () => {
    isIn = true;
  });
  newcomers.destroy();
  await new Promise<void>((resolve) => newcomers.letIn(new Socket(), resolve));
  expect(socket.destroyed).toBe(true);
  expect(isIn).toBe(false);
});

test("leaves no listener of its own with a connection that is in", async () => {
  const socket = new Socket();
  await new Promise<void>((resolve) => new Newcomers().letIn(socket, resolve));
  expect(socket.listenerCount("error")).toBe(0);
});
