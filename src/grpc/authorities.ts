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
      `${file} is to hold an authority to trust, and no certificate in PEM can be read from it: ${messageOf(cause)}`,
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
    ? "its certificate is of no authority that is trusted here; GRANGE_CA names the file of one"
    : undefined;
}

/** Returns the value of `ca` for a TLS connection. */
export function withUsualAuthorities(ca: string): string[] {
  return [...rootCertificates, ca];
}
