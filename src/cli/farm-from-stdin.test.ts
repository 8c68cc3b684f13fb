import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { farmFromStdin } from "./farm-from-stdin.ts";

test("the first line says where the farm is, in however many pieces it comes", async () => {
  const stdin = new PassThrough();
  const farm = farmFromStdin(stdin);

  stdin.write('{"server":"http://127.0.0.1:1",');
  stdin.write('"tokenFile":"/data/worker-token"}\n');

  expect(await farm).toEqual({ server: "http://127.0.0.1:1", tokenFile: "/data/worker-token" });
});

test("a worker whose parent ends before the server is there does not wait for ever", async () => {
  const stdin = new PassThrough();
  const farm = farmFromStdin(stdin);

  stdin.end();

  await expect(farm).rejects.toThrow("stdin ended");
});

test("a line that does not say it is refused", async () => {
  const stdin = new PassThrough();
  const farm = farmFromStdin(stdin);

  stdin.write("hello\n");

  await expect(farm).rejects.toThrow("stdin does not contain the address of the farm");
});
