import { createRemoteJWKSet, customFetch } from "jose";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import { discoveryAddress, whyNoIssuer } from "./issuer-address.ts";

/** Finds the key that a token's header names, among its issuer's own keys. */
type KeyFinder = ReturnType<typeof createRemoteJWKSet>;

const timeoutMs = 5_000;
const callerCacheMs = 10 * 60_000;
/** While an issuer is unreachable, waiting requests do not contact it again. */
const failureBelievedMs = 5_000;
/** Tokens that name unknown keys do not cause more frequent requests. */
const cooldownMs = 30_000;
const mostBytes = 256 * 1024;

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** Returns how to call the services of a host. Private addresses of other hosts are refused. */
export type FetchFrom = (host: string) => typeof fetch;

/**
 * Returns the published keys of issuers. Only addresses of trusted issuers are contacted; an issuer that names another
 * host for its keys cannot name one on a private address.
 */
export function issuerKeys(fetchFrom: FetchFrom): (issuer: string) => Promise<KeyFinder> {
  const known = new Map<string, { readonly until: number; readonly keys: Promise<KeyFinder> }>();

  return (issuer) => {
    const found = known.get(issuer);
    if (found !== undefined && Date.now() < found.until) return found.keys;
    const keys = discover(issuer, fetchFrom(new URL(issuer).hostname));
    known.set(issuer, { until: Date.now() + callerCacheMs, keys });
    keys.catch(() => known.set(issuer, { until: Date.now() + failureBelievedMs, keys }));
    return keys;
  };
}

async function discover(issuer: string, call: typeof fetch): Promise<KeyFinder> {
  try {
    const response = await call(discoveryAddress(issuer), {
      // A redirect would lead to an address that was not configured.
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    const text = await response.text();
    if (text.length > mostBytes) throw new Error(`its answer is larger than ${mostBytes} bytes`);
    const discovered = Discovery.parse(JSON.parse(text));
    if (discovered.issuer !== issuer) throw new Error("it says that it is another issuer");
    const why = whyNoIssuer(discovered.jwks_uri.replace(/\?.*$/, ""));
    if (why !== undefined) throw new Error(`the address of its keys is refused: ${why}`);
    return createRemoteJWKSet(new URL(discovered.jwks_uri), {
      timeoutDuration: timeoutMs,
      cooldownDuration: cooldownMs,
      cacheMaxAge: callerCacheMs,
      [customFetch]: call,
    });
  } catch (cause) {
    throw new Fault("unavailable", `the keys of ${issuer} cannot be read: ${messageOf(cause)}`, {
      cause,
    });
  }
}
