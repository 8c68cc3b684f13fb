import type { PeerCertificate, TLSSocket } from "node:tls";
import { Fault } from "#core/fault.ts";

/** A property of the socket itself: HTTP/2 shows its own only through a proxy, which no map would know. */
const resultKey = Symbol("result of the check of the client certificate");

type CertificateResult = { readonly name: string } | { readonly refused: string };

/** A longer name is unknown to the farm and would only take space. */
const longestName = 256;

/**
 * Checks the client's certificate of a connection, and records its name, or why it is refused. Clients without a
 * certificate are identified by what they send.
 *
 * A connection with a refused certificate stays open, and all its requests are refused with the reason. A client whose
 * connection is cut would not learn the reason.
 */
export function noteCertificate(socket: TLSSocket): void {
  // Null after the socket was closed.
  const certificate = socket.getPeerCertificate() as PeerCertificate | null;
  if (certificate?.subject === undefined) return;
  Object.assign(socket, { [resultKey]: resultOf(certificate, socket) });
}

function resultOf(
  { subject, valid_to }: PeerCertificate,
  { authorized, authorizationError }: TLSSocket,
): CertificateResult {
  if (!authorized) return { refused: whyNot(String(authorizationError), valid_to) };
  const name: unknown = subject.CN;
  // With several common names, or none, it is unclear which one the authority certifies.
  if (typeof name !== "string" || name.length > longestName)
    return { refused: "has no common name, or several: it must name one machine" };
  return { name };
}

/** Returns the reason for a refusal by OpenSSL's error name. */
function whyNot(code: string, until: string): string {
  switch (code) {
    case "CERT_HAS_EXPIRED":
      return `expired on ${until}: get a new one`;
    case "CERT_NOT_YET_VALID":
      return "is not valid yet: check the clocks of both machines";
    case "INVALID_PURPOSE":
      return "is not for clients: it needs extendedKeyUsage=clientAuth";
    default:
      return `is not from an authority that this farm accepts for machines (--client-ca): ${code}`;
  }
}

/**
 * Returns the name in the certificate of the other side, or why the certificate is refused; neither when it has none.
 */
export function certificateOn(socket: object | undefined): {
  readonly issuedTo?: string;
  readonly refusal?: Fault;
} {
  const result = (socket as { readonly [resultKey]?: CertificateResult } | undefined)?.[resultKey];
  if (result === undefined) return {};
  if ("name" in result) return { issuedTo: result.name };
  const sentence = `this machine's certificate (GRANGE_CLIENT_CERT) ${result.refused}`;
  return { refusal: new Fault("unauthenticated", sentence) };
}

/** Returns the name on that certificate. Throws `unauthenticated` when the certificate is refused. */
export function certificateOf(socket: object | undefined): string | undefined {
  const { issuedTo, refusal } = certificateOn(socket);
  if (refusal !== undefined) throw refusal;
  return issuedTo;
}
