import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { protectedDomain } from "#core/trust-domain.ts";
import { buildImage, tarOf } from "#images/image-builder.fixture.ts";
import { imageResolver } from "./image-resolver.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const asker = { project: "default", domain: protectedDomain };
const noLogins = { of: async () => undefined };

test("a tag is replaced by its digest, which is asked for once", async () => {
  const image = buildImage([tarOf([{ path: "a" }])]);
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    if (request.url?.endsWith("/v1")) response.end(image.manifest);
    else response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  stops.push(() => server.close());
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  const resolver = imageResolver(
    { registries: `http://${host}` },
    async () => ["127.0.0.1"],
    noLogins,
  );
  const resolve = (name: string) => resolver?.(name, asker);

  const pinned = `${host}/a/b@${image.digest}`;
  expect(await Promise.all([resolve(`${host}/a/b:v1`), resolve(`${host}/a/b:v1`)])).toEqual([
    pinned,
    pinned,
  ]);
  expect(asked).toBe(1);
  expect(await resolve(pinned)).toBe(pinned);
  expect(await resolve("debian:12")).toBe("debian:12");
  await expect(resolve(`${host}/a/b:absent`)).rejects.toThrow("there is no image");
  await expect(resolve(`${host}/a/b:absent`)).rejects.toThrow("there is no image");
  expect(asked).toBe(3);
});

test("a project with a login reads its tags with it, and nobody else does", async () => {
  const image = buildImage([tarOf([{ path: "a" }])]);
  const authorization = `Basic ${Buffer.from("me:password-1").toString("base64")}`;
  const server = createServer((request, response) => {
    if (request.headers.authorization === authorization) response.end(image.manifest);
    else response.writeHead(401, { "www-authenticate": "Basic realm=x" }).end();
  }).listen(0, "127.0.0.1");
  stops.push(() => server.close());
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = new Map([[host, { user: "me", password: "password-1" }]]);
  const resolve = imageResolver({ registries: `http://${host}` }, async () => ["127.0.0.1"], {
    of: async ({ project }) =>
      project === "mine" ? { scope: "a".repeat(32), credentials } : undefined,
  });

  const mine = await resolve?.(`${host}/a/b:v1`, { ...asker, project: "mine" });

  expect(mine).toBe(`${host}/a/b@${image.digest}`);
  // The digest that the other project learned is not told.
  await expect(resolve?.(`${host}/a/b:v1`, asker)).rejects.toThrow("REGISTRY_LOGIN");
});

test("a server without registries leaves tags to its workers", () => {
  expect(imageResolver({}, async () => [], noLogins)).toBeUndefined();
});
