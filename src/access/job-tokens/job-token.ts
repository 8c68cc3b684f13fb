import type { FarmKey } from "../farm-key.ts";

const prefix = "grange_job_";
const idBytes = 16;
const epochBytes = 8;
const signatureBytes = 64;

/** The lease that a token belongs to. The epoch never repeats, so the token of an earlier lease is not valid again. */
interface TokenLease {
  readonly executionId: string;
  readonly epoch: number;
}

export function isJobTokenShaped(text: string): boolean {
  return text.startsWith(prefix);
}

/**
 * Returns the token of a run, signed by the farm. It names only the lease; its rights follow from the execution.
 *
 * The same lease always gives the same token, because an answer that was lost on its way to the worker is repeated.
 */
export function newJobToken(key: Pick<FarmKey, "sign">, lease: TokenLease): string {
  const named = Buffer.alloc(idBytes + epochBytes);
  named.write(lease.executionId.replaceAll("-", ""), "hex");
  named.writeBigUInt64BE(BigInt(lease.epoch), idBytes);
  const signature = key.sign(signedBytes(named));
  return prefix + Buffer.concat([named, signature]).toString("base64url");
}

/** Returns the lease of a token that this farm signed; undefined for any other text. */
export function leaseInToken(
  key: Pick<FarmKey, "id" | "verify">,
  token: string,
): TokenLease | undefined {
  const bytes = Buffer.from(token.slice(prefix.length), "base64url");
  const length = idBytes + epochBytes + signatureBytes;
  if (!isJobTokenShaped(token) || bytes.byteLength !== length) return undefined;
  const named = bytes.subarray(0, idBytes + epochBytes);
  if (!key.verify(key.id, signedBytes(named), bytes.subarray(idBytes + epochBytes))) {
    return undefined;
  }
  const hex = named.toString("hex", 0, idBytes);
  return {
    executionId: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
    epoch: Number(named.readBigUInt64BE(idBytes)),
  };
}

/** The text before the lease keeps signatures of other statements of the farm from being tokens. */
function signedBytes(named: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from("grange job token v1\n"), named]);
}
