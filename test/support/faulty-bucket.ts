import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to one request. */
export type BucketFault =
  /** The server answers with an error, such as 503 SlowDown, and does nothing. */
  | { readonly kind: "answer"; readonly status: number; readonly code: string }
  /** The connection is closed before the request is sent on. */
  | { readonly kind: "drop" }
  /** The request is carried out; the answer is lost. */
  | { readonly kind: "lose answer" }
  /** The answer ends after half of its body. */
  | { readonly kind: "truncate" }
  /** Nothing is answered until the client gives up. */
  | { readonly kind: "silent" };

export interface FaultyBucket {
  readonly endpoint: URL;
  /** Decides about each request; undefined: it is sent on unchanged. */
  decide: (method: string, path: string) => BucketFault | undefined;
  /** The number of requests that met a fault. */
  readonly faults: () => number;
  close(): Promise<void>;
}

/** An address of a bucket server, where requests fail as a test decides. */
export async function faultyBucket(target: URL): Promise<FaultyBucket> {
  let faults = 0;
  const silent = new Set<ServerResponse>();
  const server = createServer((incoming, answer) => {
    const fault = proxy.decide(incoming.method ?? "", incoming.url ?? "");
    if (fault !== undefined) faults += 1;
    switch (fault?.kind) {
      case "answer":
        incoming.resume();
        incoming.once("end", () => {
          answer.writeHead(fault.status, { "content-type": "application/xml" });
          answer.end(`<Error><Code>${fault.code}</Code><Message>a test said so</Message></Error>`);
        });
        return;
      case "drop":
        incoming.socket.destroy();
        return;
      case "silent":
        silent.add(answer);
        incoming.resume();
        return;
      case "lose answer":
      case "truncate":
      case undefined:
        sendOn(incoming, answer, fault?.kind);
    }
  });

  function sendOn(
    incoming: IncomingMessage,
    answer: ServerResponse,
    fault: "lose answer" | "truncate" | undefined,
  ): void {
    const { method, url: path, headers } = incoming;
    // The same headers, also `host`: they are signed.
    const sent = request(
      { host: target.hostname, port: target.port, method, path, headers },
      (received) => {
        const parts: Buffer[] = [];
        received.on("data", (part: Buffer) => parts.push(part));
        received.on("end", () => {
          const body = Buffer.concat(parts);
          if (fault === "lose answer") return void incoming.socket.destroy();
          answer.writeHead(received.statusCode ?? 500, received.headers);
          if (fault === undefined) return void answer.end(body);
          answer.write(body.subarray(0, body.length / 2), () => incoming.socket.destroy());
        });
      },
    );
    sent.on("error", () => incoming.socket.destroy());
    incoming.pipe(sent);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const proxy: FaultyBucket = {
    endpoint: new URL(`http://127.0.0.1:${port}`),
    decide: () => undefined,
    faults: () => faults,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
