import { createHash } from "node:crypto";

/**
 * Returns the id of a span that several processes must know without having exchanged it, such as that of a job: one
 * server makes spans below it, and perhaps another one records it at its end.
 */
export function derivedSpanId(...names: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(names)).digest("hex").slice(0, 16);
}
