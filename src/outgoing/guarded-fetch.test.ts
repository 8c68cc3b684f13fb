import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { isAllowedAddress } from "./allowed-address.ts";
import { guardedFetch } from "./guarded-fetch.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function serve(answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const to = (...hosts: string[]) => guardedFetch(() => hosts);
const why = (call: Promise<Response>) =>
  call.then(
    ({ status }) => `answered ${status}`,
    (reason: unknown) => String(reason),
  );

test("a private address is refused by number and by name, and no connection is made", async () => {
  let connections = 0;
  const port = await serve((_, response) => {
    connections++;
    response.end("inside");
  });

  for (const host of ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "2130706433"]) {
    expect(await why(to()(`http://${host}:${port}/`))).toContain("has a private address");
  }
  expect(connections).toBe(0);
});

test("a listed host is contacted, by its name or its address", async () => {
  const port = await serve((request, response) => {
    response.writeHead(201, { "x-said": String(request.headers["x-say"]) });
    request.pipe(response);
  });

  for (const [listed, host] of [
    ["localhost", "localhost"],
    ["127.0.0.1", "localhost"],
    ["127.*", "127.0.0.1"],
    ["*", "localhost"],
  ] as const) {
    const answer = await to(listed)(`http://${host}:${port}/a`, {
      method: "POST",
      body: "told",
      headers: { "x-say": "a word" },
    });
    expect([answer.status, answer.headers.get("x-said"), await answer.text()]).toEqual([
      201,
      "a word",
      "told",
    ]);
    expect(answer.url).toBe(`http://${host}:${port}/a`);
  }
  expect(await why(to("other")(`http://localhost:${port}/`))).toContain("has a private address");
});

test("each redirect is checked anew, and a token goes to its own origin only", async () => {
  const seen: (string | undefined)[] = [];
  const inside = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.end("inside");
  });
  const outside = await serve((request, response) => {
    const host = request.url?.slice(1) ?? "";
    response.writeHead(302, { location: `http://${host}:${inside}/` }).end();
  });
  const headers = { authorization: "Bearer secret" };

  const refused = to("localhost")(`http://localhost:${outside}/127.0.0.1`, { headers });
  const followed = to("localhost", "127.0.0.1")(`http://localhost:${outside}/127.0.0.1`, {
    headers,
  });

  expect(await why(refused)).toContain("127.0.0.1 has a private address");
  expect(await (await followed).text()).toBe("inside");
  expect(seen).toEqual([undefined]);
  const kept = to("*")(`http://localhost:${outside}/127.0.0.1`, { redirect: "manual" });
  expect(await why(kept)).toBe("answered 302");
  const error = to("*")(`http://localhost:${outside}/127.0.0.1`, { redirect: "error" });
  expect(await why(error)).toContain("redirects");
});

test("a server that redirects for ever is left after some hops", async () => {
  const port = await serve((_, response) => {
    response.writeHead(302, { location: "/again" }).end();
  });

  expect(await why(to("*")(`http://localhost:${port}/`))).toContain("redirects too often");
});

test("the address that a machine's own keys have is allowed by no pattern", () => {
  for (const address of ["169.254.169.254", "100.100.100.200", "fd00:ec2::254"]) {
    expect(isAllowedAddress("metadata", address, ["*", "metadata"])).toBe(false);
    expect(isAllowedAddress("metadata", address, [address])).toBe(true);
  }
  expect(isAllowedAddress("example.com", "93.184.215.14", [])).toBe(true);
});
