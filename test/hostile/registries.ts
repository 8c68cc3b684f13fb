import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { Fault } from "#core/fault.ts";
import { buildImage, tarOf } from "#images/image-builder.fixture.ts";
import { parseImageReference } from "#images/image-reference.ts";
import { RegistryClient } from "#images/registry-client.ts";
import { parseRegistries } from "#images/registry-settings.ts";
import { guardedFetch } from "#outgoing/guarded-fetch.ts";
import type { HostileCase, HostileSuite } from "./case.ts";

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

/** A client of a registry that answers as a case says. */
interface RegistryTarget {
  /** Asks for an image while the registry answers in this way; returns the failure, and what else was asked. */
  describe(reply: Reply): Promise<{ readonly fault: Fault; readonly others: readonly string[] }>;
  /** Downloads the layer of the image; returns the failure, and the most bytes of one attempt that were kept. */
  download(reply: Reply): Promise<{ readonly fault: Fault; readonly most: number }>;
}

const image = buildImage([tarOf([{ path: "a", content: "x".repeat(20_000) }])]);
const layer = (
  JSON.parse(image.manifest.toString()) as { layers: [{ digest: string; size: number }] }
).layers[0];
const sha = (letter: string) => `sha256:${letter.repeat(64)}`;

const isManifest = (request: IncomingMessage) => request.url?.includes("/manifests/") === true;
const json =
  (value: unknown): Reply =>
  (_, response) =>
    void response.end(JSON.stringify(value));
const status =
  (code: number, headers: Record<string, string>, body = ""): Reply =>
  (_, response) =>
    void response.writeHead(code, headers).end(body);
/** The manifest in this form; all else as an honest registry. */
const manifest =
  (value: object): Reply =>
  (request, response) => {
    if (isManifest(request))
      response.end(
        JSON.stringify({ ...(JSON.parse(image.manifest.toString()) as object), ...value }),
      );
    else honest(request, response);
  };
const honest: Reply = (request, response) => {
  const name = request.url?.split("/").at(-1) ?? "";
  const bytes = isManifest(request) ? image.manifest : image.blobs.get(name);
  if (bytes === undefined) response.writeHead(404).end();
  else response.end(bytes);
};
const challenge = (text: string): Reply => status(401, { "www-authenticate": text });
/** Bytes without an end, until the client leaves. */
const endless: Reply = (_, response) => {
  const more = () => {
    if (!response.destroyed) response.write(Buffer.alloc(65_536, " "), more);
  };
  response.on("error", () => {});
  more();
};
const huge = { digest: sha("b"), size: Number.MAX_SAFE_INTEGER };

/** Registries, and what the client says of each. */
const answers: readonly (readonly [name: string, reply: Reply, says: RegExp])[] = [
  ["that sends a manifest without an end", endless, /longer than/],
  ["that sends a web page", status(200, { "content-type": "text/html" }, "<html>"), /not JSON/],
  ["that sends nothing", status(200, {}), /not JSON/],
  ["that sends a number", json(1), /wrong/],
  ["that sends a list of 100,000 lists", (_, r) => void r.end("[".repeat(100_000)), /JSON|wrong/],
  ["that sends a prototype", (_, r) => void r.end('{"__proto__":{"schemaVersion":2}}'), /wrong/],
  ["with a manifest of schema 1", json({ schemaVersion: 1 }), /schema 1/],
  ["with 10,000 layers", manifest({ layers: Array(10_000).fill(huge) }), /at most 200 layers/],
  [
    "with a layer of less than no bytes",
    manifest({ layers: [{ digest: sha("b"), size: -1 }] }),
    /wrong/,
  ],
  ["with a layer of half a byte", manifest({ layers: [{ digest: sha("b"), size: 0.5 }] }), /wrong/],
  [
    "with a layer whose digest climbs",
    manifest({ layers: [{ digest: "sha256:../../x", size: 1 }] }),
    /wrong/,
  ],
  ["with a configuration of 8 PiB", manifest({ config: huge }), /too long/],
  [
    "with a configuration that is not there",
    manifest({ config: { digest: sha("b"), size: 3 } }),
    /404|not/,
  ],
  [
    "with an index of itself",
    json({
      schemaVersion: 2,
      manifests: [
        {
          digest: sha("a"),
          size: 3,
          platform: { os: "linux", architecture: process.arch === "x64" ? "amd64" : process.arch },
        },
      ],
    }),
    /not|corrupt|digest/,
  ],
  ["with an index of nothing", json({ schemaVersion: 2, manifests: [] }), /no image for linux/],
  [
    "with an index of 100,000 images",
    json({ schemaVersion: 2, manifests: Array(100_000).fill(huge) }),
    /longer than|wrong/,
  ],
  [
    "that wants authorization of an unknown kind",
    challenge("Negotiate"),
    /a kind of authorization that is not supported/,
  ],
  [
    "that wants a password for no realm",
    challenge('Bearer realm="nowhere"'),
    /a kind of authorization that is not supported/,
  ],
  [
    "that wants a token of a file",
    challenge('Bearer realm="file:///etc/passwd"'),
    /token|not|file/,
  ],
  [
    "that wants a token of the cloud's metadata",
    challenge('Bearer realm="http://169.254.169.254/latest"'),
    /token|address|allowed/,
  ],
  [
    "that wants a token of a private address",
    challenge('Bearer realm="http://10.0.0.1/"'),
    /token|address|allowed/,
  ],
  ["that wants basic authorization", challenge("Basic realm=x"), /user and a password/],
  ["that is never content", status(401, {}), /a kind of authorization that is not supported/],
  [
    "that redirects to the cloud's metadata",
    status(302, { location: "http://169.254.169.254/" }),
    /./,
  ],
  [
    "that redirects to itself for ever",
    (q, r) => void r.writeHead(307, { location: q.url ?? "/" }).end(),
    /./,
  ],
  ["that refuses", status(403, {}), /403/],
  ["that has no such image", status(404, {}), /there is no image/],
];

const described: readonly HostileCase<RegistryTarget>[] = answers.map(([name, reply, says]) => ({
  name: `a registry ${name}`,
  async run(target) {
    const { fault, others } = await target.describe(reply);
    assert.match(fault.message, says);
    assert.notEqual(fault.code, "internal");
    assert.deepEqual(others, [], "another server was asked");
  },
}));

const blob = Buffer.concat(
  [...image.blobs.entries()]
    .filter(([digest]) => digest === layer.digest)
    .map(([, bytes]) => bytes),
);
const downloads: readonly (readonly [name: string, reply: Reply])[] = [
  ["of other bytes of the same length", (_, r) => void r.end(Buffer.alloc(layer.size, 1))],
  ["without an end", endless],
  ["with one byte more", (_, r) => void r.end(Buffer.concat([blob, Buffer.of(0)]))],
  [
    "that is packed once more",
    (_, r) =>
      void r.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(50_000_000))),
  ],
  [
    "that begins anew with other bytes",
    (q, r) =>
      void r
        .writeHead(q.headers.range === undefined ? 200 : 206, { "content-length": layer.size })
        .end(Buffer.alloc(layer.size, 2)),
  ],
  ["that does not exist", status(404, {})],
  ["that wants a token for ever", challenge('Bearer realm="http://10.0.0.1/"')],
];

const downloaded: readonly HostileCase<RegistryTarget>[] = downloads.map(([name, reply]) => ({
  name: `a layer ${name}`,
  async run(target) {
    const { fault, most } = await target.download(reply);
    assert.notEqual(fault.code, "internal");
    assert(most <= layer.size, `${most} bytes were kept`);
  },
}));

export const registrySuite: HostileSuite<RegistryTarget> = {
  interface: "registries of container images",
  atLeast: 30,
  cases: [...described, ...downloaded],
  async open() {
    /** Each case has a registry of its own, because cases run at the same time. */
    const withRegistry = async <T>(
      reply: Reply,
      use: (client: RegistryClient, host: string, others: string[]) => Promise<T>,
    ) => {
      const others: string[] = [];
      const server = createServer((request, response) => {
        if (request.url?.startsWith("/v2/") !== true) others.push(request.url ?? "");
        reply(request, response);
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const client = new RegistryClient({
        registries: parseRegistries(`http://${host}`),
        credentials: new Map(),
        fetch: guardedFetch(() => ["127.0.0.1"]),
        architecture: process.arch,
        pauseMs: () => 1,
      });
      try {
        return await use(client, host, others);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    };
    const faultOf = async (work: Promise<unknown>): Promise<Fault> => {
      const reason: unknown = await work.then(
        () => new Error("it was accepted"),
        (failure: unknown) => failure,
      );
      if (reason instanceof Fault) return reason;
      throw reason;
    };
    return {
      target: {
        describe: (reply) =>
          withRegistry(reply, async (client, host, others) => ({
            fault: await faultOf(client.describe(parseImageReference(`${host}/a/b:v1`))),
            others,
          })),
        download: (reply) =>
          withRegistry(reply, async (client, host) => {
            let received = 0;
            let most = 0;
            const receiver = {
              write: async ({ byteLength }: Uint8Array) => {
                received += byteLength;
                most = Math.max(most, received);
              },
              end: async () => received,
              abandon: async () => void (received = 0),
            };
            const fault = await faultOf(
              client.download(parseImageReference(`${host}/a/b:v1`), layer, async () => receiver),
            );
            return { fault, most };
          }),
      },
      stop: async () => {},
    };
  },
};
