import type { PeerCertificate, TLSSocket } from "node:tls";

/** A property of the socket itself: HTTP/2 shows its own only through a proxy, which no map would know. */
const issuedTo = Symbol("to whom the client's certificate was issued");

/** A name with more is nobody's that we know; it would only be carried about. */
const longestName = 256;

/**
 * Looks at the certificate with which a client made its connection. False for one that is not to be talked to:
 * it shows a certificate, and that is of no authority of ours, over, or meant for something else than a client.
 *
 * Who shows none is told from the others by what it sends.
 */
export function acceptsClient(socket: TLSSocket): boolean {
  // Null once the socket is gone.
  const subject = (socket.getPeerCertificate() as PeerCertificate | null)?.subject;
  if (subject === undefined) return true;
  if (!socket.authorized) return false;
  const name: unknown = subject.CN;
  // Several common names, or none: nobody can say which one the authority vouches for.
  if (typeof name !== "string" || name.length > longestName) return false;
  Object.assign(socket, { [issuedTo]: name });
  return true;
}

/** The name on the verified certificate of a connection's other side; undefined when it showed none. */
export function certificateOf(socket: object | undefined): string | undefined {
  return (socket as { readonly [issuedTo]?: string } | undefined)?.[issuedTo];
}
