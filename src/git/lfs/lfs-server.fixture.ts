import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

/** A request of the batch API, exactly as in its JSON schema. */
const BatchRequest = z.strictObject({
  operation: z.enum(["download", "upload"]),
  transfers: z.array(z.string()).optional(),
  ref: z.strictObject({ name: z.string() }).optional(),
  objects: z.array(
    z.strictObject({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: z.number().int().min(0) }),
  ),
  hash_algo: z.literal("sha256").optional(),
});

/** A small LFS server for a test: the batch API and downloads, over HTTP on the loopback. */
export interface LfsServer {
  /** The address of a repository whose objects the server has. */
  readonly repository: string;
  /** Stores an object; returns its pointer. */
  add(content: string | Uint8Array): string;
  /** From now on, returns wrong bytes for downloads of an object. */
  corrupt(content: string): void;
  /** Answers batches in a way that violates the protocol. */
  answerBatches(answer: { readonly status: number; readonly body: unknown } | undefined): void;
  readonly downloads: () => number;
  readonly batches: () => number;
  stop(): Promise<void>;
}

export function pointerOf(content: string | Uint8Array): string {
  const bytes = Buffer.from(content);
  const hash = createHash("sha256").update(bytes).digest("hex");
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${hash}\nsize ${bytes.byteLength}\n`;
}

export async function lfsServer(): Promise<LfsServer> {
  const objects = new Map<string, { readonly bytes: Buffer; served: Buffer }>();
  const token = randomUUID();
  const count = { downloads: 0, batches: 0 };
  let other: { readonly status: number; readonly body: unknown } | undefined;
  const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  let address = "";

  const batch = (text: string) => {
    const { operation, objects: wanted } = BatchRequest.parse(JSON.parse(text));
    if (operation !== "download") throw new RangeError(operation);
    return {
      transfer: "basic",
      hash_algo: "sha256",
      objects: wanted.map(({ oid, size }) => {
        const known = objects.get(oid);
        if (known === undefined || known.bytes.byteLength !== size)
          return { oid, size, error: { code: 404, message: "Object does not exist" } };
        const href = `${address}/objects/${oid}`;
        return { oid, size, actions: { download: { href, header: { authorization: token } } } };
      }),
    };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const [, oid] = /^\/objects\/([0-9a-f]{64})$/.exec(request.url ?? "") ?? [];
    if (oid !== undefined) {
      count.downloads++;
      const known = objects.get(oid);
      if (request.headers.authorization !== token) response.writeHead(401).end();
      else if (known === undefined) response.writeHead(404).end();
      else response.writeHead(200).end(known.served);
      return;
    }
    const isBatch =
      request.method === "POST" &&
      request.url === "/team/app.git/info/lfs/objects/batch" &&
      request.headers.accept === "application/vnd.git-lfs+json" &&
      request.headers["content-type"] === "application/vnd.git-lfs+json";
    if (!isBatch) return void response.writeHead(404).end();
    count.batches++;
    response.setHeader("content-type", "application/vnd.git-lfs+json");
    if (other !== undefined) {
      return void response.writeHead(other.status).end(JSON.stringify(other.body));
    }
    try {
      response.writeHead(200).end(JSON.stringify(batch(Buffer.concat(parts).toString("utf8"))));
    } catch (reason) {
      response.writeHead(422).end(JSON.stringify({ message: String(reason) }));
    }
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    repository: `${address}/team/app`,
    add(content) {
      const bytes = Buffer.from(content);
      objects.set(hashOf(bytes), { bytes, served: bytes });
      return pointerOf(bytes);
    },
    corrupt(content) {
      const known = objects.get(hashOf(Buffer.from(content)));
      if (known !== undefined) known.served = Buffer.from(content.replace(/.$/, "!"));
    },
    answerBatches(answer) {
      other = answer;
    },
    downloads: () => count.downloads,
    batches: () => count.batches,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
