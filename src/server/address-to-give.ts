import { isLoopback } from "#core/host-guard.ts";
import type { Certificate } from "./certificate.ts";

/**
 * The farm's own address, for people and for workers that `grange up` starts.
 *
 * Under TLS a name is useful only if the certificate contains it. A server that listens on loopback answers only
 * loopback names. A server that listens on other addresses is found by the certificate's own name.
 */
export function addressToGive(
  host: string,
  port: number,
  certificate?: Pick<Certificate, "covers" | "names">,
): string {
  const plain = nameOf(host);
  if (certificate === undefined) return `http://${plain}:${port}`;
  const others = isLoopback(plain) && isLoopback(host) ? ["localhost"] : certificate.names;
  const usable = [plain, ...others].find((name) => !name.includes("*") && certificate.covers(name));
  return `https://${usable ?? plain}:${port}`;
}

/** Returns an address that a browser can open. */
function nameOf(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
