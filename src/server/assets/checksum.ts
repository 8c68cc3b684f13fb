import { createHash, type Hash } from "node:crypto";
import { Fault } from "#core/fault.ts";

/** A checksum of Subresource Integrity (https://www.w3.org/TR/SRI/): content must have one of the hashes. */
export interface Checksum {
  readonly algorithm: "sha256" | "sha384" | "sha512";
  /** In hexadecimal. */
  readonly hashes: readonly string[];
}

const bytesOf = { sha256: 32, sha384: 48, sha512: 64 } as const;
const strongestFirst = ["sha512", "sha384", "sha256"] as const;

/**
 * Parses a checksum: words such as `sha256-BASE64`. Of several algorithms the strongest counts, as in browsers.
 *
 * Throws `invalid_argument` when no word is a hash by one of the algorithms.
 */
export function parseChecksum(text: string): Checksum {
  const words = text.split(/\s+/).flatMap((word) => {
    const [, algorithm = "", base64 = ""] =
      /^(sha(?:256|384|512))-([A-Za-z0-9+/=]+)(?:\?\S*)?$/.exec(word) ?? [];
    const bytes = Buffer.from(base64, "base64");
    const known = strongestFirst.find((each) => each === algorithm);
    return known !== undefined && bytes.byteLength === bytesOf[known]
      ? [{ algorithm: known, hash: bytes.toString("hex") }]
      : [];
  });
  const algorithm = strongestFirst.find((each) => words.some((word) => word.algorithm === each));
  if (algorithm === undefined) {
    throw new Fault(
      "invalid_argument",
      `checksum.sri must be a hash such as sha256-BASE64, not ${JSON.stringify(text.slice(0, 120))}`,
    );
  }
  const hashes = words.filter((word) => word.algorithm === algorithm).map(({ hash }) => hash);
  return { algorithm, hashes };
}

/** Compares content with a checksum while the content passes. */
export function checksumCheck({ algorithm, hashes }: Checksum): {
  through(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Throws `aborted` unless the content that passed has the checksum. */
  require(): void;
} {
  const hash: Hash = createHash(algorithm);
  return {
    async *through(chunks) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    require() {
      const found = hash.digest("hex");
      if (hashes.includes(found)) return;
      throw new Fault(
        "aborted",
        `the content has the ${algorithm} ${found}, and checksum.sri asks for ${hashes.join(" or ")}`,
      );
    },
  };
}
