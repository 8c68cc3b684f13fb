import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type GitHub, openGitHub } from "./open-github.ts";

const privateKey = generateKeyPairSync("rsa", { modulusLength: 2_048 })
  .privateKey.export({ type: "pkcs1", format: "pem" })
  .toString();

let servers: Server[];
let forge: GitHub;

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    answer(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}) =>
  response
    .writeHead(200, { "content-type": "application/json", ...headers })
    .end(JSON.stringify(body));

async function ask(api: string): Promise<unknown> {
  forge = openGitHub({ appId: "1", privateKey, api, readAgainMs: 1, timeoutMs: 2_000 });
  return forge.webhooks.redeliveries.list(new Date(0)).catch((reason: unknown) => reason);
}

beforeEach(() => {
  servers = [];
});
afterEach(async () => {
  await forge.stop();
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("a proxy's page in place of an answer is a temporary fault", async () => {
  const api = await serve((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in, please</h1>");
  });

  expect(await ask(api)).toMatchObject({ code: "unavailable" });
});

test.each([
  ["no list", { id: 1 }],
  ["other fields", [{ number: 1 }]],
  [
    "no instant",
    [{ id: 1, guid: "a", delivered_at: "now", event: "push", status_code: 200, status: "" }],
  ],
  ["half of the JSON", "cut"],
])("an answer with %s is refused by what is wrong in it", async (_, body) => {
  const api = await serve((_request, response) => void json(response, body));

  expect(await ask(api)).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("unknown form") as string,
  });
});

test("an endless answer is aborted", async () => {
  const api = await serve((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const part = Buffer.alloc(1024 * 1024, " ");
    const go = () => {
      while (!response.destroyed && response.write(part));
    };
    response.on("drain", go);
    go();
  });

  const before = process.memoryUsage().rss;
  expect(await ask(api)).toMatchObject({ code: "unavailable" });
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
});

test("a very slow answer is aborted after the timeout", async () => {
  const drips = new Set<NodeJS.Timeout>();
  const api = await serve((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const drip = setInterval(() => response.write(" "), 20);
    drips.add(drip);
    response.on("close", () => clearInterval(drip));
  });
  forge = openGitHub({ appId: "1", privateKey, api, readAgainMs: 1, timeoutMs: 100 });

  const failed = await forge.webhooks.redeliveries
    .list(new Date(0))
    .catch((reason: unknown) => reason);

  expect(failed).toMatchObject({ code: "unavailable" });
  for (const drip of drips) clearInterval(drip);
});

test("pages that form a cycle are a fault", async () => {
  let asked = 0;
  const api: string = await serve((_, response) => {
    asked++;
    json(response, [], { link: `<${api}/app/hook/deliveries?cursor=1>; rel="next"` });
  });

  expect(await ask(api)).toMatchObject({ code: "resource_exhausted" });
  expect(asked).toBe(2);
});

test("neither a redirect nor a link to another host gets the farm's token", async () => {
  const stolen: (string | undefined)[] = [];
  const thief = await serve((request, response) => {
    stolen.push(request.headers.authorization);
    json(response, []);
  });
  const api = await serve((request, response) => {
    if (request.url?.includes("linked"))
      json(response, [], { link: `<${thief}/app/hook/deliveries>; rel="next"` });
    else response.writeHead(302, { location: `${thief}/app/hook/deliveries` }).end();
  });
  await ask(`${api}`);
  await forge.stop();
  await ask(`${api}/linked`);

  // The redirect is followed without the token; the link is not followed.
  expect(stolen).toEqual([undefined]);
});
