import { isLoopback } from "#core/host-guard.ts";

/** Returns why this address cannot be an issuer's; undefined when it can. */
export function whyNoIssuer(address: string): string | undefined {
  if (!URL.canParse(address)) return "it is no URL";
  const url = new URL(address);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    return "it must begin with https:// (http:// only on this machine)";
  }
  if (url.username !== "" || url.password !== "") return "it contains a user or a password";
  // As in OpenID Connect Discovery 1.0, section 3.
  if (url.search !== "" || url.hash !== "") return "it has a query or a fragment";
  return undefined;
}

/** Returns the address of an issuer's metadata (OpenID Connect Discovery 1.0, section 4). */
export function discoveryAddress(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}
