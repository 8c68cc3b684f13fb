import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { guardedFetch } from "#outgoing/guarded-fetch.ts";
import { buildImage, tarOf } from "./image-builder.fixture.ts";
import { parseImageReference } from "./image-reference.ts";
import { RegistryClient } from "./registry-client.ts";
import { parseRegistries, type RegistryCredentials } from "./registry-settings.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that need not keep to the specification. Returns its origin and the requests that it got. */
async function serve(answer: Answer): Promise<{ origin: string; host: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.range ?? ""}`.trim());
    answer(request, response);
  }).listen(0, "127.0.0.1");
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin: `http://${host}`, host, asked };
}

const image = buildImage([tarOf([{ path: "a", content: "x".repeat(50_000) }])], { Env: ["A=b"] });
const [layer] = JSON.parse(image.manifest.toString()).layers as { digest: string; size: number }[];
if (layer === undefined) throw new Error("the image has a layer");
const layerBytes = image.blobs.get(layer.digest) ?? Buffer.alloc(0);

/** Answers as a registry does. */
const honest: Answer = (request, response) => {
  const name = request.url?.split("/").at(-1) ?? "";
  const bytes = name === "v1" || name === image.digest ? image.manifest : image.blobs.get(name);
  if (bytes === undefined) response.writeHead(404).end();
  else response.end(bytes);
};

function clientFor(
  registries: string,
  credentials: RegistryCredentials = new Map(),
): RegistryClient {
  return new RegistryClient({
    registries: parseRegistries(registries),
    credentials,
    fetch: guardedFetch(() => ["127.0.0.1"]),
    architecture: process.arch,
    pauseMs: () => 1,
  });
}

const at = (host: string, suffix = ":v1") => parseImageReference(`${host}/a/b${suffix}`);

/** Returns the bytes that the last receiver got; `fail` may throw an error for a part. */
async function download(
  client: RegistryClient,
  host: string,
  fail: (part: Uint8Array) => void = () => {},
): Promise<Buffer> {
  let parts: Uint8Array[] = [];
  return client.download(at(host), layer as NonNullable<typeof layer>, async () => ({
    write: async (part) => {
      fail(part);
      parts.push(part);
    },
    end: async () => Buffer.concat(parts),
    abandon: async () => void (parts = []),
  }));
}

test("a tag is resolved, and an image is described", async () => {
  const { origin, host } = await serve(honest);
  const client = clientFor(origin);

  expect(await client.resolve(at(host))).toBe(image.digest);
  const described = await client.describe(at(host, `@${image.digest}`));
  expect(described.digest).toBe(image.digest);
  expect(described.config.environment).toEqual([["A", "b"]]);
});

test("an index leads to the image for this machine", async () => {
  const entry = (architecture: string, digest: string) => ({
    digest,
    size: image.manifest.length,
    platform: { os: "linux", architecture },
  });
  const own = process.arch === "x64" ? "amd64" : process.arch;
  const index = (architecture: string) =>
    JSON.stringify({
      schemaVersion: 2,
      manifests: [entry("s390x", `sha256:${"0".repeat(64)}`), entry(architecture, image.digest)],
    });
  const { origin, host } = await serve((request, response) => {
    if (request.url?.endsWith("/v1")) response.end(index(own));
    else if (request.url?.endsWith("/other")) response.end(index("mips"));
    else honest(request, response);
  });

  expect((await clientFor(origin).describe(at(host))).digest).toBe(image.digest);
  await expect(clientFor(origin).describe(at(host, ":other"))).rejects.toThrow("linux/mips");
});

test("a download continues where it was interrupted, and starts anew without ranges", async () => {
  for (const hasRanges of [true, false]) {
    let interruptions = 0;
    const { origin, host, asked } = await serve((request, response) => {
      const from = hasRanges ? Number(/\d+/.exec(request.headers.range ?? "0")?.[0]) : 0;
      response.writeHead(from > 0 ? 206 : 200, { "content-length": layer.size - from });
      if (interruptions++ > 1) {
        response.end(layerBytes.subarray(from));
        return;
      }
      response.write(layerBytes.subarray(from, from + 20), () =>
        setTimeout(() => response.destroy(), 20),
      );
    });

    expect(await download(clientFor(origin), host)).toEqual(layerBytes);
    expect(asked).toHaveLength(3);
    expect(asked[2]?.includes("bytes=")).toBe(true);
  }
});

test("a receiver gets the bytes of the registry after wrong ones of a mirror, which it may not have understood", async () => {
  const registry = await serve(honest);
  const mirror = await serve(text(Buffer.alloc(layer.size)));
  const client = clientFor(`${registry.origin}=${mirror.origin}`);

  const received = await download(client, registry.host, (part) => {
    if (part[0] === 0) throw new Fault("invalid_argument", "it is no layer");
  });

  expect(received).toEqual(layerBytes);
  expect(mirror.asked).toHaveLength(1);
});

test.each([
  ["refuses the right bytes", new Fault("invalid_argument", "it is no layer"), honest],
  // The rest would never come.
  [
    "cannot store them",
    new Error("the disk is full"),
    ((_, response) => {
      response.writeHead(200, { "content-length": layer.size });
      response.write(layerBytes.subarray(0, 20));
    }) satisfies Answer,
  ],
])(
  "a receiver that %s fails the download, which is not tried again",
  async (_, failure, answer) => {
    const { origin, host, asked } = await serve(answer);

    const downloading = download(clientFor(origin), host, () => {
      throw failure;
    });

    await expect(downloading).rejects.toBe(failure);
    expect(asked).toHaveLength(1);
  },
);

test("a token is asked for once, with the credentials, and basic authorization works", async () => {
  const credentials = (host: string) => new Map([[host, { user: "me", password: "pass:word" }]]);
  const basic = `Basic ${Buffer.from("me:pass:word").toString("base64")}`;
  const tokensFor: string[] = [];
  const bearer = await serve((request, response) => {
    const { authorization } = request.headers;
    if (request.url?.startsWith("/token")) {
      tokensFor.push(`${authorization} ${request.url}`);
      response.end(JSON.stringify({ token: "secret-token", expires_in: 300 }));
    } else if (authorization === "Bearer secret-token") honest(request, response);
    else
      response
        .writeHead(401, {
          "www-authenticate": `Bearer realm="http://${request.headers.host}/token",service="s"`,
        })
        .end();
  });
  const plain = await serve((request, response) => {
    if (request.headers.authorization === basic) honest(request, response);
    else response.writeHead(401, { "www-authenticate": 'Basic realm="r"' }).end();
  });

  await clientFor(bearer.origin, credentials(bearer.host)).describe(at(bearer.host));
  await clientFor(plain.origin, credentials(plain.host)).describe(at(plain.host));

  expect(tokensFor).toEqual([`${basic} /token?service=s&scope=repository%3Aa%2Fb%3Apull`]);
  await expect(clientFor(plain.origin).describe(at(plain.host))).rejects.toThrow(
    "GRANGE_WORKER_REGISTRY_AUTH",
  );
});

test("a mirror is asked first, and the registry has what it lacks", async () => {
  const registry = await serve(honest);
  const mirror = await serve((_, response) => response.writeHead(404).end());
  const client = clientFor(`${registry.origin}=${mirror.origin}`);

  expect(await client.resolve(at(registry.host))).toBe(image.digest);
  expect(mirror.asked).toHaveLength(1);
});

test("a mirror does not get the credentials of the registry", async () => {
  const registry = await serve(honest);
  const seen: (string | undefined)[] = [];
  const mirror = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(401, { "www-authenticate": 'Basic realm="r"' }).end();
  });
  const credentials = new Map([[registry.host, { user: "me", password: "secret" }]]);
  const client = clientFor(`${registry.origin}=${mirror.origin}`, credentials);

  expect(await client.resolve(at(registry.host))).toBe(image.digest);
  expect(seen).toEqual([undefined]);
});

const manifestOf = (more: object) =>
  JSON.stringify({ ...JSON.parse(image.manifest.toString()), ...more });
const text =
  (body: string | Buffer): Answer =>
  (_, response) =>
    response.end(body);
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end();

const hostile: readonly [name: string, answer: Answer, why: string | RegExp][] = [
  ["no JSON", text("<html>"), "not JSON"],
  ["an empty manifest", text(""), "not JSON"],
  ["JSON that is no manifest", text("[]"), "is wrong"],
  ["null", text("null"), "is wrong"],
  ["schema 1", text('{"schemaVersion":1}'), "schema 1"],
  ["a manifest of 5 MB", text(Buffer.alloc(5 * 1024 * 1024, " ")), "longer than"],
  [
    "1,000 layers",
    text(manifestOf({ layers: Array.from({ length: 1_000 }, () => layer) })),
    "200 layers",
  ],
  [
    "a digest that is a path",
    text(manifestOf({ layers: [{ digest: "sha256:../../etc/passwd", size: 1 }] })),
    "sha256",
  ],
  [
    "a digest by MD5",
    text(manifestOf({ layers: [{ digest: `md5:${"0".repeat(32)}`, size: 1 }] })),
    "sha256",
  ],
  ["a negative size", text(manifestOf({ layers: [{ ...layer, size: -1 }] })), "is wrong"],
  [
    "a configuration of 1 GB",
    text(manifestOf({ config: { digest: layer.digest, size: 1e9 } })),
    "too long",
  ],
  ["another configuration than its digest", text(image.manifest), "corrupt"],
  [
    "an index of indexes",
    (request, response) => {
      const arch = process.arch === "x64" ? "amd64" : process.arch;
      const body = `{"schemaVersion":2,"manifests":[{"digest":"sha256:${"0".repeat(64)}","size":1,"platform":{"os":"linux","architecture":"${arch}"}}]}`;
      response.end(request.url?.endsWith("v1") ? body : body);
    },
    "corrupt",
  ],
  ["404", status(404), "there is no image"],
  ["403", status(403), "refuses to give"],
  ["500", status(500), "HTTP 500"],
  [
    "a challenge of an unknown kind",
    status(401, { "www-authenticate": "Negotiate" }),
    "that is not supported",
  ],
  [
    "a challenge without an address",
    status(401, { "www-authenticate": 'Bearer realm="nowhere"' }),
    "that is not supported",
  ],
  [
    "a token service on a private address",
    status(401, { "www-authenticate": 'Bearer realm="http://10.0.0.1/token"' }),
    "private address",
  ],
  [
    "a token service of the cloud's machine",
    status(401, { "www-authenticate": 'Bearer realm="http://169.254.169.254/latest"' }),
    "private address",
  ],
  [
    "a redirect to a private address",
    status(307, { location: "http://10.0.0.1/v2/" }),
    "private address",
  ],
  ["a redirect without an end", status(307, { location: "/v2/again" }), "redirects too often"],
  ["a redirect to a file", status(307, { location: "file:///etc/passwd" }), "not served over HTTP"],
  ["a connection that ends", (_, response) => response.destroy(), "cannot be reached"],
];

test.each(hostile)("a registry that answers with %s is refused", async (_, answer, why) => {
  const { origin, host } = await serve(answer);

  await expect(clientFor(origin).describe(at(host))).rejects.toThrow(why);
});

const badBlobs: readonly [name: string, answer: Answer, why: string | RegExp][] = [
  ["other bytes", text(Buffer.alloc(layer.size)), "corrupt"],
  ["more bytes", text(Buffer.alloc(layer.size + 100_000)), "longer than"],
  ["fewer bytes", text(layerBytes.subarray(0, 10)), "bytes arrived"],
  [
    "bytes of another range",
    (_, response) => {
      response.writeHead(206).end(layerBytes.subarray(5));
    },
    /bytes arrived|longer than|corrupt/,
  ],
];

test.each(badBlobs)("a blob with %s is refused", async (_, answer, why) => {
  const { origin, host } = await serve(answer);

  await expect(download(clientFor(origin), host)).rejects.toThrow(why);
});

test("a manifest with another digest than was asked for is refused", async () => {
  const { origin, host } = await serve(text(image.manifest));

  await expect(clientFor(origin).describe(at(host, `@sha256:${"1".repeat(64)}`))).rejects.toThrow(
    "corrupt",
  );
});

test.each([
  ["https://ghcr.io/path", "names no registry"],
  ["a b", "names no registry"],
  ["registry.2", "names no registry"],
  ["ghcr.io=mirror", "names no registry"],
  ["ghcr.io=https://user:pass@mirror", "names no registry"],
  ["ghcr.io=ftp://mirror", "names no registry"],
])("%s is no list of registries", (list, why) => {
  expect(() => parseRegistries(list)).toThrow(why);
});

test("a registry on a private address needs the operator's permission", async () => {
  const { origin, host, asked } = await serve(honest);
  const client = new RegistryClient({
    registries: parseRegistries(origin),
    credentials: new Map(),
    fetch: guardedFetch(() => []),
    architecture: process.arch,
    pauseMs: () => 1,
  });

  await expect(client.resolve(at(host))).rejects.toThrow("GRANGE_PRIVATE_HOSTS");
  expect(asked).toEqual([]);
});
