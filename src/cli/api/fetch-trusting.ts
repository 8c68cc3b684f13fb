import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { withUsualAuthorities } from "#grpc/authorities.ts";
import type { ClientCertificate } from "#grpc/client-certificate.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Like `fetch`, but trusts further authorities and presents a client certificate. Node's own fetch can only be
 * configured for this before the process starts.
 */
export function fetchTrusting(ca: string | undefined, own?: ClientCertificate): Fetch {
  const trusted = ca === undefined ? {} : { ca: withUsualAuthorities(ca) };
  const agent = new Agent({ ...trusted, ...own, keepAlive: true });
  return async (url, init) => {
    if (!url.startsWith("https:")) return fetch(url, init);
    const { method = "GET", body, signal } = init;
    const headers = Object.fromEntries(new Headers(init.headers));
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(url, { agent, method, headers, ...(signal ? { signal } : {}) });
      sent.once("error", reject);
      sent.once("response", resolve);
      sent.end(body ?? undefined);
    });
    // Otherwise an answer that breaks off later would end the process.
    response.on("error", () => {});
    const status = response.statusCode ?? 500;
    const hasBody = ![204, 205, 304].includes(status);
    if (!hasBody) response.resume();
    // A Response refuses even an empty body when the status allows none.
    return new Response(hasBody ? (Readable.toWeb(response) as ReadableStream<Uint8Array>) : null, {
      status,
      headers: Object.entries(response.headers).flatMap(([name, value]): [string, string][] =>
        [value ?? []].flat().map((each) => [name, each]),
      ),
    });
  };
}
