import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Fault, messageOf } from "#core/fault.ts";
import { withoutPassword } from "../repository-address.ts";
import type { Git } from "../run-git.ts";

export interface HttpCall {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A connection without data for this time is closed. */
const silenceMs = 60_000;

/**
 * Calls an HTTP address under the same rules as Git's own calls: only private addresses that the operator allowed, only
 * checked addresses, no redirects. The caller reads or destroys the body.
 */
export async function httpCall(
  git: Git,
  { url, method, headers, body }: HttpCall,
): Promise<{ readonly status: number; readonly body: IncomingMessage }> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new Fault("failed_precondition", `${JSON.stringify(url)} is not an HTTP address`);
  const { settings } = await git.accessTo(url);
  const pinned = settings.find(([key]) => key === "http.curloptResolve")?.[1];
  const request = url.toLowerCase().startsWith("https:") ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const failed = (cause: unknown) =>
      reject(new Fault("unavailable", `${withoutPassword(url)}: ${messageOf(cause)}`, { cause }));
    const call = request(
      url,
      {
        method,
        headers,
        timeout: silenceMs,
        ...(pinned === undefined ? {} : { lookup: lookupOf(pinned) }),
      },
      (response) => resolve({ status: response.statusCode ?? 0, body: response }),
    );
    call.on("timeout", () => call.destroy(new Error(`silent for ${silenceMs / 1_000} s`)));
    call.on("error", failed);
    call.end(body);
  });
}

/** Answers every lookup with the addresses of `HOST:PORT:ADDRESS,ADDRESS`. */
function lookupOf(resolved: string): LookupFunction {
  const addresses = resolved
    .replace(/^[^:]*:[^:]*:/, "")
    .split(",")
    .map((written) => written.replace(/^\[|\]$/g, ""))
    .map((address) => ({ address, family: isIP(address) }));
  return (_host, options, answer) => {
    const [first] = addresses;
    if (options.all) answer(null, addresses);
    else answer(null, first?.address ?? "", first?.family);
  };
}
