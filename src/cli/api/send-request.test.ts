import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestCertificate, testCertificate } from "../../../test/support/test-certificate.ts";
import { LostConnection, requestSender } from "./send-request.ts";

const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0)) each();
});

async function listening(server: Server & { closeAllConnections(): void }): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  undo.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function serverWith(handle: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(handle))}`;
}

const echo: RequestListener = (request, response) => {
  const { method = "", url = "", headers } = request;
  const { authorization = "none" } = headers;
  request.pipe(response.writeHead(200, { "x-seen": `${method} ${url} ${authorization}` }));
};

test.each(["POST", "PUT", "PATCH", "DELETE"])(
  "sends %s with headers and a body, and answers with status, headers and body",
  async (method) => {
    const url = await serverWith(echo);

    const answer = await requestSender()(`${url}/a?b=c`, {
      method,
      headers: { authorization: "Bearer t" },
      body: "hello ü",
    });

    expect([answer.status, answer.isOk, answer.header("x-seen"), await answer.text()]).toEqual([
      200,
      true,
      `${method} /a?b=c Bearer t`,
      "hello ü",
    ]);
  },
);

test("an answer without a body is empty, and one of a failure can be read", async () => {
  const url = await serverWith((request, response) => {
    if (request.url === "/nothing") response.writeHead(204).end();
    else response.writeHead(503).end("later");
  });
  const send = requestSender();

  const nothing = await send(`${url}/nothing`);
  const failed = await send(`${url}/failed`);

  expect([nothing.status, await nothing.text()]).toEqual([204, ""]);
  expect([failed.isOk, await failed.text()]).toEqual([false, "later"]);
});

test("a compressed answer is read as it was", async () => {
  const url = await serverWith((request, response) => {
    const encoding = String(request.headers["accept-encoding"]);
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(`asked for ${encoding}`));
  });

  const answer = await requestSender()(url);

  expect(await answer.text()).toBe("asked for gzip");
});

test.each(["", "gzip"])(
  "an answer (%j) that breaks off fails whoever reads it",
  async (encoding) => {
    const url = await serverWith((_, response) => {
      response.writeHead(200, encoding === "" ? {} : { "content-encoding": encoding });
      const whole = encoding === "" ? Buffer.from("the beginning") : gzipSync("the beginning");
      response.write(whole.subarray(0, 11), () => response.destroy());
    });

    const answer = await requestSender()(url);

    await expect(answer.text()).rejects.toThrow(LostConnection);
  },
);

test("a request or its answer ends with the reason of its signal", async () => {
  const url = await serverWith((_, response) => response.write("the beginning"));
  const send = requestSender();
  const during = new AbortController();
  const answer = await send(url, { signal: during.signal });

  during.abort(new Error("enough"));

  await expect(answer.text()).rejects.toThrow("enough");
  await expect(send(url, { signal: during.signal })).rejects.toThrow("enough");
});

describe("a second request", () => {
  const seen: IncomingMessage[] = [];
  const ports = new Set<number | undefined>();
  let url: string;
  beforeEach(async () => {
    seen.length = 0;
    ports.clear();
    url = await serverWith((request, response) => {
      seen.push(request);
      // Unknown after the end of the connection.
      ports.add(request.socket.remotePort);
      response.end("answered");
    });
  });

  test("uses the connection of the first one", async () => {
    const send = requestSender();

    for (let n = 0; n < 2; n++) await (await send(url)).text();

    expect(ports.size).toBe(1);
  });

  test("is sent again when the server has closed that connection", async () => {
    const send = requestSender();
    await (await send(url)).text();

    // Its client finds out only when it writes.
    seen[0]?.socket.resetAndDestroy();
    const second = await send(url);

    expect(await second.text()).toBe("answered");
    expect(seen).toHaveLength(2);
  });

  test("has a connection of its own if it must not arrive twice", async () => {
    const send = requestSender();

    for (let n = 0; n < 2; n++) await (await send(url, { method: "POST", body: "1" })).text();

    expect(ports.size).toBe(2);
  });
});

describe("a redirect", () => {
  const redirecting = (status: number, to: () => string): RequestListener => {
    return (request, response) => {
      if (request.url === "/old") response.writeHead(status, { location: to() }).end();
      else echo(request, response);
    };
  };
  const request = { method: "POST", headers: { authorization: "Bearer t" }, body: "hello" };

  test.each([
    [308, "POST /new Bearer t", "hello"],
    [303, "GET /new Bearer t", ""],
  ])("with %i is followed", async (status, seen, text) => {
    const url = await serverWith(redirecting(status, () => "/new"));

    const answer = await requestSender()(`${url}/old`, request);

    expect([answer.header("x-seen"), await answer.text()]).toEqual([seen, text]);
  });

  test("to another server does not take the token there", async () => {
    const other = await serverWith(echo);
    const url = await serverWith(redirecting(307, () => `${other}/new`));

    const answer = await requestSender()(`${url}/old`, request);

    expect(answer.header("x-seen")).toBe("POST /new none");
  });

  test("in a circle ends", async () => {
    const url = await serverWith(redirecting(302, () => "/old"));

    expect((await requestSender()(`${url}/old`)).status).toBe(302);
  });
});

describe("under TLS", () => {
  let directory: string;
  let certificate: TestCertificate;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "grange-request-"));
    certificate = await testCertificate(directory);
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function tlsServer(): Promise<string> {
    const key = await readFile(certificate.key, "utf8");
    const server = createTlsServer({ cert: certificate.pem, key }, echo);
    return `https://127.0.0.1:${await listening(server)}`;
  }

  test("a server with a certificate of a given authority is trusted, and no other", async () => {
    const url = await tlsServer();

    const answer = await requestSender({ ca: certificate.pem })(url, { method: "POST", body: "a" });

    expect(await answer.text()).toBe("a");
    await expect(requestSender()(url)).rejects.toMatchObject({
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
  });
});
