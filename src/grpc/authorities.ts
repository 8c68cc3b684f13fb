import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { Fault, messageOf } from "#core/fault.ts";

/**
 * Reads a file of authorities, which are trusted in addition to the usual ones: for farms whose certificate is signed
 * by a private authority or by itself.
 */
export function readAuthorities(file: string): string {
  try {
    const pem = readFileSync(file, "utf8");
    // Node takes any text for a list of authorities, and says nothing when none is in it.
    new X509Certificate(pem);
    return pem;
  } catch (cause) {
    throw new Fault(
      "invalid_argument",
      `${file} must contain the certificate of an authority in PEM, and none can be read: ${messageOf(cause)}`,
      { cause },
    );
  }
}

const untrusted: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/**
 * Returns advice for a connection that failed with this error code of Node; undefined when the code is not about trust.
 */
export function adviceOnTrust(code: string | undefined): string | undefined {
  return code !== undefined && untrusted.has(code)
    ? "its certificate is not from a trusted authority; name the file of its authority in GRANGE_CA"
    : undefined;
}

/** Returns the value of `ca` for a TLS connection. */
export function withUsualAuthorities(ca: string): string[] {
  return [...rootCertificates, ca];
}
