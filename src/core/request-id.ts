/** The header that names a request in answers and in the log. */
export const requestIdHeader = "x-request-id";

/** Safe in headers, log lines and shells. */
const wellFormed = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the id that the caller gave its request, if it is well-formed; otherwise a new one. */
export function requestIdFrom(header: unknown): string {
  return typeof header === "string" && wellFormed.test(header) ? header : crypto.randomUUID();
}
