import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { type ServerType, serve } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Grant, Principal } from "#access/principal.ts";
import { faultToHttp } from "./fault-to-http.ts";
import { jsonBody } from "./json-body.ts";

const definer: Grant = {
  verb: "define",
  repository: "mine",
  branch: "*",
  priorityCap: null,
  top: false,
};
const Shape = z.object({ text: z.string().optional(), list: z.array(z.number()).optional() });
let server: ServerType;
let port = 0;

beforeAll(async () => {
  const app = new Hono();
  app.use(async (c, next) => {
    const grants = c.req.header("authorization") === "definer" ? [definer] : [];
    c.set("principal", { name: "somebody", grants } satisfies Principal);
    await next();
  });
  app.post("/small", async (c) => c.json(Object.keys(await jsonBody(c, Shape))));
  app.post("/large", async (c) =>
    c.json(Object.keys(await jsonBody(c, Shape, { bytes: 4_000_000, verb: "define" }))),
  );
  app.onError((error, c) => {
    const { status, body } = faultToHttp(error);
    return c.json(body, status as 500);
  });
  server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  server.close();
  await once(server, "close");
});

const textOf = (bytes: number) => JSON.stringify({ text: "x".repeat(bytes) });

test.each([
  { path: "/small", authorization: "nobody", body: textOf(60_000), status: 200 },
  { path: "/small", authorization: "definer", body: textOf(70_000), status: 413 },
  { path: "/large", authorization: "definer", body: textOf(3_900_000), status: 200 },
  { path: "/large", authorization: "definer", body: textOf(4_000_000), status: 413 },
  { path: "/large", authorization: "nobody", body: textOf(60_000), status: 200 },
  { path: "/large", authorization: "nobody", body: textOf(70_000), status: 403 },
  { path: "/small", authorization: "nobody", body: "{", status: 400 },
])(
  "answers $status to $body.length bytes for $path from $authorization, stated or in chunks",
  async ({ path, authorization, body, status }) => {
    const stated = { "content-length": String(Buffer.byteLength(body)) };
    expect(await post(path, { authorization, ...stated }, body)).toBe(status);
    expect(await post(path, { authorization }, body)).toBe(status);
  },
);

test("refuses more JSON values than it can check at once", async () => {
  const body = JSON.stringify({ list: Array.from({ length: 300_000 }, () => 1) });
  expect(await post("/large", { authorization: "definer" }, body)).toBe(400);
});

test("answers while a body without end is still being sent, and takes in no more of it", async () => {
  const outgoing = open("/small", { authorization: "nobody" });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  const ended = new Promise<void>((resolve) => outgoing.once("close", () => resolve()));
  const piece = Buffer.alloc(65_536, " ");
  let sent = 0;
  const send = () => {
    while (!outgoing.destroyed && sent < 2 ** 30) {
      sent += piece.length;
      if (!outgoing.write(piece)) return void outgoing.once("drain", send);
    }
  };
  send();
  const [response] = await answered;
  response.resume();
  expect(response.statusCode).toBe(413);
  await ended;
  expect(sent).toBeLessThan(2 ** 27);
});

function open(path: string, headers: Readonly<Record<string, string>>): ClientRequest {
  const outgoing = request({ port, host: "127.0.0.1", path, method: "POST", headers });
  // The server may end the connection while the client still sends the rest of a refused body.
  outgoing.on("error", () => {});
  return outgoing;
}

async function post(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<number | undefined> {
  const outgoing = open(path, headers);
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  // Written separately from the end, because Node then sends no length.
  outgoing.write(body);
  outgoing.end();
  const [response] = await answered;
  response.resume();
  return response.statusCode;
}
