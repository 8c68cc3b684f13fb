import { createReadStream } from "node:fs";
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import {
  request as requestHttps,
  Agent as TlsAgent,
  type AgentOptions as TlsOptions,
} from "node:https";
import { pipeline } from "node:stream/promises";
import { messageOf } from "#core/fault.ts";
import type { LocalOutput } from "./protocol.ts";
import { afterRequest, newRemote, type RemoteEnd } from "./remote-standing.ts";

/** Where the cache over the network is. */
export interface RemoteAddress {
  /** `http://HOST:PORT/…/cache/PROJECT/gocache`. */
  readonly url: string;
  readonly token: string | undefined;
  /** Further authorities and the client certificate, for `https:`. */
  readonly tls: TlsOptions;
}

/** An output that a server offers. The sizes and hashes are what the server says: nothing is verified yet. */
interface OfferedOutput {
  readonly output: string;
  readonly sizeBytes: number;
  readonly storedAtMs: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/** A cache over the network: a granary of this machine, or a farm. No function throws. */
export interface RemoteOutputs {
  /** Returns what the server has for an action; undefined for a miss and for every failure. The body must be read. */
  fetch(action: string): Promise<OfferedOutput | undefined>;
  /** Returns whether the server has an entry; true when it cannot be asked. */
  has(action: string): Promise<boolean>;
  store(action: string, output: LocalOutput): Promise<void>;
  /** Reports a body that was not what the server said, or that broke off. */
  bodyFailed(reason: unknown): void;
  close(): void;
}

/** No farm takes longer for the head of an answer; a silent one must not delay a build more. */
const silenceMs = 5_000;
const timeHeader = "x-go-time";
/** The largest output that is fetched: twice the limit of farms for one entry. */
const mostBytes = 4 * 1024 ** 3;

export function remoteOutputs(
  { url, token, tls }: RemoteAddress,
  warn: (line: string) => void,
): RemoteOutputs {
  const isTls = url.startsWith("https:");
  const agent = isTls
    ? new TlsAgent({ ...tls, keepAlive: true })
    : new HttpAgent({ keepAlive: true });
  const origin = new URL(url).origin;
  let standing = newRemote;
  const note = (end: RemoteEnd) => {
    const after = afterRequest(standing, end);
    standing = after.standing;
    if (after.warning !== undefined) warn(after.warning);
  };
  const failed = (reason: unknown) =>
    note({ kind: "failed", message: `${origin}: ${messageOf(reason)}` });

  /** Returns the head of the answer; undefined, and noted, unless it is 200 or 404. */
  const ask = async (
    method: "GET" | "HEAD" | "PUT",
    action: string,
    headers: Readonly<Record<string, string>> = {},
    file?: string,
  ): Promise<IncomingMessage | undefined> => {
    try {
      const answer = await send(method, action, headers, file);
      const status = answer.statusCode ?? 500;
      if (status === 401 || status === 403) {
        const message = await textOf(answer);
        note({ kind: "refused", method: method === "PUT" ? "write" : "read", message });
        return undefined;
      }
      if (status !== 200 && status !== 404) {
        throw new Error(`status ${status}: ${await textOf(answer)}`);
      }
      note({ kind: "answered" });
      return answer;
    } catch (reason) {
      failed(reason);
      return undefined;
    }
  };
  const send = (
    method: string,
    action: string,
    headers: Readonly<Record<string, string>>,
    file: string | undefined,
  ) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const request = (isTls ? requestHttps : requestHttp)(`${url}/${action}`, {
        agent,
        method,
        headers: { ...authorization, ...headers },
        // Counts while nothing is sent or received.
        timeout: silenceMs,
      });
      request.once("timeout", () =>
        request.destroy(new Error(`it was silent for ${silenceMs / 1_000} s`)),
      );
      request.once("response", resolve);
      request.on("error", reject);
      if (file === undefined) request.end();
      else pipeline(createReadStream(file), request).catch(reject);
    });

  return {
    async fetch(action) {
      if (!standing.reads) return undefined;
      const answer = await ask("GET", action);
      if (answer?.statusCode !== 200) {
        answer?.resume();
        return undefined;
      }
      const offered = offeredIn(answer);
      if (offered === undefined) {
        answer.destroy();
        failed(`an answer does not name its hash and a size of at most ${mostBytes} bytes`);
      }
      return offered;
    },
    async has(action) {
      if (!standing.reads) return true;
      const answer = await ask("HEAD", action);
      answer?.resume();
      return answer?.statusCode !== 404;
    },
    async store(action, { storedAtMs, sizeBytes, path }) {
      if (!standing.writes) return;
      const headers = {
        [timeHeader]: new Date(storedAtMs).toISOString(),
        "content-length": `${sizeBytes}`,
      };
      (await ask("PUT", action, headers, path))?.resume();
    },
    bodyFailed: failed,
    close: () => agent.destroy(),
  };
}

function offeredIn(answer: IncomingMessage): OfferedOutput | undefined {
  const { etag = "", "content-length": length = "", [timeHeader]: time } = answer.headers;
  const output = /^"([0-9a-f]{64})"$/.exec(etag)?.[1];
  const sizeBytes = /^\d{1,15}$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY;
  if (output === undefined || sizeBytes > mostBytes) return undefined;
  const storedAtMs = Date.parse(String(time));
  return {
    output,
    sizeBytes,
    storedAtMs: Number.isNaN(storedAtMs) ? Date.now() : storedAtMs,
    body: answer,
  };
}

/** Returns the beginning of an answer's text, for a message. */
async function textOf(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.length > 1_000) break;
  }
  return text.trim().slice(0, 500);
}
