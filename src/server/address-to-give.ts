import { isLoopback } from "#core/host-guard.ts";
import type { Certificate } from "./certificate.ts";

/**
 * The farm's own address, for people and for workers that `grange up` starts.
 *
 * Under TLS a name is of use only when the certificate is for it. On loopback only
 * loopback's names are answered for; where we listen wider, the certificate's own name
 * is how others find us.
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

/** An address that a browser can be given. */
function nameOf(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
