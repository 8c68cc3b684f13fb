import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * Whether a body was signed with one of the secrets: the header `X-Hub-Signature-256`.
 *
 * All secrets are tried, and compared in constant time: how long it takes tells nothing of them. While a secret is
 * replaced there are two.
 */
export function isSigned(
  body: Uint8Array,
  header: string | undefined,
  secrets: readonly string[],
): boolean {
  const hex = /^sha256=([0-9a-f]{64})$/.exec(header ?? "")?.[1];
  if (hex === undefined) return false;
  const given = Buffer.from(hex, "hex");
  return secrets
    .map((secret) => timingSafeEqual(createHmac("sha256", secret).update(body).digest(), given))
    .includes(true);
}
