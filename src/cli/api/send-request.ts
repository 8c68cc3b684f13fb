import { Agent, type IncomingMessage, request as requestOverHttp } from "node:http";
import type { RequestOptions } from "node:https";
import { createGunzip } from "node:zlib";
import type { ClientCertificate } from "#grpc/client-certificate.ts";

export interface HttpRequest {
  /** Default: GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/** An answer whose body is still on its way. Read the body, or call `cancel`. */
export interface HttpAnswer {
  readonly status: number;
  /** Whether the status is 2xx. */
  readonly isOk: boolean;
  header(name: string): string | undefined;
  /** Throws `LostConnection` when the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  /** Ends the connection; the body then breaks off. */
  cancel(): void;
}

/** Sends a request, and resolves when the answer begins. Rejects with the reason of its signal, or that of the connection. */
export type SendRequest = (url: string, request?: HttpRequest) => Promise<HttpAnswer>;

/** An answer broke off. */
export class LostConnection extends Error {}

/** Whom requests trust besides the usual authorities, and how they identify themselves, under TLS. */
interface TlsIdentity {
  /** In PEM. */
  readonly ca?: string | undefined;
  readonly own?: ClientCertificate | undefined;
}

/** As many as `fetch` follows. */
const mostRedirects = 20;

/**
 * Returns a function that sends requests over connections that it keeps for the next ones.
 *
 * In place of `fetch`, whose code takes 46 ms of CPU to load, as much as the rest of a short command, and which cannot be told
 * which authorities to trust.
 */
export function requestSender(identity: TlsIdentity = {}): SendRequest {
  const overHttp: Transport = {
    kept: new Agent({ keepAlive: true }),
    single: new Agent(),
    request: requestOverHttp,
  };
  let overTls: Promise<Transport> | undefined;
  return async (url, request = {}) => {
    let from = new URL(url);
    let now = request;
    for (let redirects = 0; ; redirects++) {
      if (from.protocol === "https:") overTls ??= openTls(identity);
      const transport = from.protocol === "https:" ? await overTls : undefined;
      const response = await sendOnce(transport ?? overHttp, from, now);
      const to = placeOfRedirect(response, from);
      if (to === undefined || redirects >= mostRedirects) return answerOf(response, request.signal);
      response.resume();
      now = redirected(now, response.statusCode ?? 0, to.origin === from.origin);
      from = to;
    }
  };
}

interface Transport {
  /** Its connections serve several requests. */
  readonly kept: Agent;
  /** Its connections serve one request each. */
  readonly single: Agent;
  readonly request: typeof requestOverHttp;
}

/** Loaded by the first request that needs it: the code of TLS, too, takes time. */
async function openTls({ ca, own }: TlsIdentity): Promise<Transport> {
  const [https, { withUsualAuthorities }] = await Promise.all([
    import("node:https"),
    import("#grpc/authorities.ts"),
  ]);
  const options = { ...(ca === undefined ? {} : { ca: withUsualAuthorities(ca) }), ...own };
  return {
    kept: new https.Agent({ ...options, keepAlive: true }),
    single: new https.Agent(options),
    request: https.request,
  };
}

async function sendOnce(
  { kept, single, request }: Transport,
  url: URL,
  { method = "GET", headers = {}, body, signal }: HttpRequest,
): Promise<IncomingMessage> {
  signal?.throwIfAborted();
  // An event must not wait for others to fill a block.
  const isStream = headers["accept"] === "text/event-stream";
  const all = {
    ...headers,
    ...(isStream ? {} : { "accept-encoding": "gzip" }),
    // Node sends neither this nor chunks by itself with a DELETE.
    ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
  };
  // A server may close a kept connection while a request is on its way. A request that must not arrive twice could then
  // not be sent again.
  const mayArriveTwice = method !== "POST" && method !== "PATCH";
  const agent = mayArriveTwice ? kept : single;
  const options: RequestOptions = { agent, method, headers: all, ...(signal && { signal }) };
  const attempt = () =>
    new Promise<IncomingMessage | "closed before">((resolve, reject) => {
      const sent = request(url, options);
      sent.on("error", (reason: NodeJS.ErrnoException) => {
        if (signal?.aborted === true) reject(signal.reason);
        else if (sent.reusedSocket && reason.code === "ECONNRESET") resolve("closed before");
        else reject(reason);
      });
      sent.once("response", (response) => {
        // Otherwise an answer that breaks off before it is read would end the process.
        response.on("error", () => {});
        resolve(response);
      });
      sent.end(body);
    });
  for (;;) {
    const response = await attempt();
    if (response !== "closed before") return response;
  }
}

/** Returns where an answer redirects to; undefined if it does not. */
function placeOfRedirect({ statusCode, headers }: IncomingMessage, from: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode ?? 0)) return undefined;
  const { location } = headers;
  if (location === undefined || !URL.canParse(location, from.href)) return undefined;
  const to = new URL(location, from);
  return /^https?:$/.test(to.protocol) ? to : undefined;
}

/** A token is for the server that it was given for. */
function redirected(request: HttpRequest, status: number, isSameOrigin: boolean): HttpRequest {
  const { authorization: _, ...withoutToken } = request.headers ?? {};
  const headers = isSameOrigin ? { ...request.headers } : withoutToken;
  if (status >= 307 || (request.method ?? "GET") === "GET") return { ...request, headers };
  const { signal } = request;
  return { headers, ...(signal && { signal }) };
}

function answerOf(response: IncomingMessage, signal: AbortSignal | undefined): HttpAnswer {
  const status = response.statusCode ?? 500;
  const body = bodyOf(response, signal);
  const bytes = async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  return {
    status,
    isOk: status >= 200 && status < 300,
    header: (name) => [response.headers[name] ?? []].flat().at(0),
    body,
    bytes,
    text: async () => (await bytes()).toString("utf8"),
    cancel: () => void response.destroy(),
  };
}

async function* bodyOf(
  response: IncomingMessage,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (response.headers["content-encoding"] !== "gzip") yield* response;
    else {
      const whole = createGunzip();
      response.once("error", (reason) => whole.destroy(reason));
      yield* response.pipe(whole);
    }
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason;
    throw new LostConnection("the connection to the server broke", { cause });
  } finally {
    // The reader may have enough before the end.
    if (!response.complete) response.destroy();
  }
}
