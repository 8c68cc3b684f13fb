import { lookup as lookUp } from "node:dns";
import { Agent, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps, Agent as TlsAgent } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { isAllowedAddress, type PrivateHosts } from "./allowed-address.ts";

/** More than a service needs that has moved to another address. */
const mostRedirects = 5;

/** Returns the hosts on private addresses that may be contacted now: rights may change while the server runs. */
type PrivateHostsNow = () => PrivateHosts | Promise<PrivateHosts>;

/**
 * Returns a `fetch` that connects to public addresses, and to private ones only of listed hosts.
 *
 * The address is checked when the connection is made, and it is the one that is used: a name that resolves differently
 * a moment later, a redirect, and an address in another service's answer are all checked. Proxies from the environment
 * are not used, as by Node's own `fetch`.
 */
export function guardedFetch(privateHosts: PrivateHostsNow): typeof fetch {
  const agents = { "http:": new Agent(keptOpen), "https:": new TlsAgent(keptOpen) };
  return async (input, init) => {
    let request = new Request(input, init);
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    for (let hops = 0; ; hops++) {
      const allowed = (await privateHosts()).map(withoutBrackets);
      const answer = await send(request, body, allowed, agents);
      const to = answer.headers.get("location");
      if (answer.status < 300 || answer.status > 399 || to === null) return answer;
      if (request.redirect === "manual") return answer;
      await answer.body?.cancel();
      if (request.redirect === "error") throw new Error(`${request.url} redirects to ${to}`);
      if (body !== undefined) throw new Error(`${request.url} redirects a request with a body`);
      if (hops === mostRedirects) throw new Error(`${request.url} redirects too often`);
      request = redirected(request, new URL(to, request.url));
    }
  };
}

const keptOpen = { keepAlive: true, maxSockets: 32 };

/** A token is not sent to another origin. */
function redirected(request: Request, to: URL): Request {
  const headers = new Headers(request.headers);
  if (to.origin !== new URL(request.url).origin) {
    for (const name of ["authorization", "cookie"]) headers.delete(name);
  }
  const { method, signal } = request;
  return new Request(to, { method, headers, signal });
}

function send(
  request: Request,
  body: Buffer | undefined,
  privateHosts: PrivateHosts,
  agents: { readonly "http:": Agent; readonly "https:": TlsAgent },
): Promise<Response> {
  const url = new URL(request.url);
  const { protocol } = url;
  if (protocol !== "http:" && protocol !== "https:") {
    return Promise.reject(new Error(`${protocol} is not served over HTTP`));
  }
  const host = withoutBrackets(url.hostname);
  // Node looks up names only.
  if (isIP(host) !== 0 && !isAllowedAddress(host, host, privateHosts)) {
    return Promise.reject(notAllowed(host));
  }
  const call = protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sending = call(
      url,
      {
        method: request.method,
        headers: {
          ...Object.fromEntries(request.headers),
          "accept-encoding": "identity",
          ...(body === undefined ? {} : { "content-length": body.byteLength }),
        },
        agent: agents[protocol],
        lookup: allowedLookup(privateHosts),
        signal: request.signal,
      },
      (incoming) => resolve(responseOf(incoming, request.url)),
    );
    // Like Node's own `fetch`: the caller gets the reason of the abort.
    sending.on("error", (cause) =>
      reject(request.signal.aborted ? (request.signal.reason as Error) : cause),
    );
    sending.end(body);
  });
}

/** Resolves names as usual, but only to allowed addresses; the connection then uses one of these. */
function allowedLookup(privateHosts: PrivateHosts): LookupFunction {
  return (hostname, options, answer) => {
    lookUp(hostname, { ...options, all: true }, (failure, found) => {
      if (failure !== null) return answer(failure, "");
      const allowed = found.filter(({ address }) =>
        isAllowedAddress(hostname, address, privateHosts),
      );
      const [first] = allowed;
      if (first === undefined) return answer(notAllowed(hostname), "");
      if (options.all === true) return answer(null, allowed);
      return answer(null, first.address, first.family);
    });
  };
}

/** URLs have brackets around IPv6 addresses. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

/** The error of a call to an address that the farm must not contact. */
export class PrivateAddress extends Error {}

function notAllowed(host: string): Error {
  return new PrivateAddress(
    `${host} has a private address, and the farm goes to none that its operator has not named: set GRANGE_PRIVATE_HOSTS=${host} to let it`,
  );
}

const hasNoBody = (status: number) => status === 204 || status === 205 || status === 304;

function responseOf(incoming: IncomingMessage, url: string): Response {
  const status = incoming.statusCode ?? 500;
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  if (hasNoBody(status)) incoming.resume();
  const body = hasNoBody(status) ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  const response = new Response(body, { status, headers });
  // The constructor cannot set it.
  Object.defineProperty(response, "url", { value: url });
  return response;
}
