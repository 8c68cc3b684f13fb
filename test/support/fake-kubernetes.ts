import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

interface StoredObject {
  metadata: {
    name: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
  };
  spec: Record<string, unknown>;
}

export interface FakeKubernetes {
  /** As `kubectl proxy` prints it: without TLS and without a token. */
  readonly url: string;
  readonly deployments: Map<string, StoredObject>;
  readonly pods: Map<string, StoredObject>;
  stop(): Promise<void>;
}

/** Starts the part of Kubernetes' API that scaling uses: lists by label, and merge patches, in one namespace. */
export async function startFakeKubernetes(namespace: string): Promise<FakeKubernetes> {
  const deployments = new Map<string, StoredObject>();
  const pods = new Map<string, StoredObject>();
  const places = new Map([
    [`/apis/apps/v1/namespaces/${namespace}/deployments`, deployments],
    [`/api/v1/namespaces/${namespace}/pods`, pods],
  ]);
  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });

  async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const url = new URL(request.url ?? "/", "http://kubernetes");
    const missing = { status: 404, body: { kind: "Status", reason: "NotFound" } };
    if (request.method === "GET") {
      const place = places.get(url.pathname);
      if (place === undefined) return missing;
      const wanted = (url.searchParams.get("labelSelector") ?? "").split(",");
      const items = [...place.values()].filter(({ metadata: { labels } }) =>
        wanted.every((pair) => labels[pair.split("=")[0] ?? ""] === pair.split("=")[1]),
      );
      return { status: 200, body: { items } };
    }
    const [, place = "", name = "", scale] =
      /^(.*\/(?:deployments|pods))\/([^/]+)(\/scale)?$/.exec(url.pathname) ?? [];
    const found = places.get(place)?.get(name);
    if (request.method !== "PATCH" || found === undefined) return missing;
    if (request.headers["content-type"] !== "application/merge-patch+json")
      return { status: 415, body: {} };
    const patch = JSON.parse(await bodyOf(request)) as Partial<StoredObject>;
    if (scale === undefined) Object.assign(found.metadata.annotations, patch.metadata?.annotations);
    else found.spec["replicas"] = patch.spec?.["replicas"];
    return { status: 200, body: found };
  }

  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deployments,
    pods,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString();
}
