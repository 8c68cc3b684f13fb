import { createHmac, timingSafeEqual } from "node:crypto";

/** The check of a body against its signature while it arrives. */
interface SignatureCheck {
  add(piece: Uint8Array): void;
  /** Must be called once, after the last piece. */
  isRight(): boolean;
}

/**
 * Begins to check the header `X-Hub-Signature-256`; undefined when it cannot be valid.
 *
 * All secrets are tried, and compared in constant time, so that timing reveals nothing about them. While a secret is
 * replaced there are two.
 */
export function checkSignature(
  header: string | undefined,
  secrets: readonly string[],
): SignatureCheck | undefined {
  const hex = /^sha256=([0-9a-f]{64})$/.exec(header ?? "")?.[1];
  if (hex === undefined) return undefined;
  const given = Buffer.from(hex, "hex");
  const sums = secrets.map((secret) => createHmac("sha256", secret));
  return {
    add(piece) {
      for (const sum of sums) sum.update(piece);
    },
    isRight: () => sums.map((sum) => timingSafeEqual(sum.digest(), given)).includes(true),
  };
}
