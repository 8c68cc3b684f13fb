import { lookup as lookUp } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { messageOf } from "#core/fault.ts";
import type { Webhooks } from "./webhooks.ts";

const timeoutMs = 10_000;
const mostBytes = 64 * 1024;

/** Returns undefined when the webhook answered 2xx; otherwise the reason, for people. */
export async function sendToWebhook(
  webhooks: Webhooks,
  { id, url, body }: { readonly id: string; readonly url: string; readonly body: unknown },
): Promise<string | undefined> {
  // The configuration may have changed since the notification was stored.
  if (!webhooks.allows(url)) return "the configuration of the server does not allow this URL";
  const bytes = Buffer.from(JSON.stringify(body));
  if (bytes.length > mostBytes) return `it has ${bytes.length} bytes, more than ${mostBytes}`;
  try {
    const status = await post(webhooks, new URL(url), id, bytes);
    return status >= 200 && status < 300 ? undefined : `it answered ${status}`;
  } catch (reason) {
    return messageOf(reason);
  }
}

/** Returns the status. Redirects are not followed, because they may lead to any address. */
function post(webhooks: Webhooks, url: URL, id: string, bytes: Buffer): Promise<number> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !webhooks.allowsAddress(host))
    return Promise.reject(new Error(`${host} is a private address`));
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const heard = (response: IncomingMessage) => {
      // The body of the response is not read.
      response.destroy();
      resolve(response.statusCode ?? 0);
    };
    const sending = send(
      url,
      {
        method: "POST",
        agent: false,
        lookup: allowedLookup(webhooks),
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          "content-type": "application/json",
          "content-length": bytes.length,
          "user-agent": "grange",
          "grange-notification": id,
        },
      },
      heard,
    );
    sending.on("error", (reason) =>
      reject(reason.name === "AbortError" ? new Error("it did not answer within 10 s") : reason),
    );
    sending.end(bytes);
  });
}

/** Resolves names as usual, but not to private addresses: the checked address is also the one that is used. */
function allowedLookup(webhooks: Webhooks): LookupFunction {
  return (hostname, options, answer) => {
    lookUp(hostname, { ...options, all: true }, (failure, found) => {
      if (failure !== null) return answer(failure, "");
      const allowed = found.filter(({ address }) => webhooks.allowsAddress(address));
      const [first] = allowed;
      if (first === undefined)
        return answer(new Error(`${hostname} has only private addresses`), "");
      if (options.all === true) return answer(null, allowed);
      return answer(null, first.address, first.family);
    });
  };
}
