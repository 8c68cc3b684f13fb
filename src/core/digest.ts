import { z } from "zod";

/** The hash functions that clients may use for blobs. Grange itself uses SHA-256 throughout. */
export const digestFunctions = ["sha256", "sha1", "sha384", "sha512", "md5", "blake3"] as const;
export type DigestFunction = (typeof digestFunctions)[number];

/** The length of a hash by each function. */
export const hexDigits: Readonly<Record<DigestFunction, number>> = {
  sha256: 64,
  sha1: 40,
  sha384: 96,
  sha512: 128,
  md5: 32,
  blake3: 64,
};

/** `[function-]hex`; the hex of SHA-256 has no prefix. */
const hashPattern = new RegExp(
  `^(?:${digestFunctions
    .map((name) => `${name === "sha256" ? "" : `${name}-`}[0-9a-f]{${hexDigits[name]}}`)
    .join("|")})$`,
);

/**
 * The name of a blob: the hash of its bytes, and their number.
 *
 * The hash includes its function: 64 hex digits alone are SHA-256; other functions are a prefix, as in `blake3-…`. The
 * same bytes under two functions are two blobs, because their equality cannot be known without reading both.
 *
 * Only `Digest.parse`, `parseDigestKey`, `digestFrom`, `digestFromDigits` and `digestOf` make a Digest. A function with a Digest parameter
 * can therefore trust it and need not check hash or size again.
 */
export const Digest = z
  .object({
    hash: z
      .string()
      .regex(
        hashPattern,
        "a hash is 64 lower-case hex digits, or the name of another function and its hash",
      ),
    sizeBytes: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER),
  })
  .readonly()
  .brand<"Digest">();
export type Digest = z.infer<typeof Digest>;

/** Returns the form for tables and logs: `<hash>/<size>`. */
export function digestKey(digest: Digest): string {
  return `${digest.hash}/${digest.sizeBytes}`;
}

/** The inverse of `digestKey`; throws when the text is not one. */
export function parseDigestKey(key: string): Digest {
  const slash = key.indexOf("/");
  return Digest.parse({ hash: key.slice(0, slash), sizeBytes: Number(key.slice(slash + 1)) });
}

/** A digest in text, as `digestKey` writes it: for rows, files and messages. */
export const DigestText = z.string().transform((text, context): Digest => {
  try {
    return parseDigestKey(text);
  } catch {
    context.addIssue({ code: "custom", message: "not a digest" });
    return z.NEVER;
  }
});

/** Returns each digest once, in the order of first occurrence. */
export function uniqueDigests(digests: readonly Digest[]): Digest[] {
  return digests.filter(firstOccurrences());
}

/**
 * Returns a function that says of each digest whether it is the first of its kind.
 *
 * Digests are compared by their hash, which is a string that exists already. A key is only made for a hash that was seen
 * with another size.
 */
export function firstOccurrences(): (digest: Digest) => boolean {
  const sizes = new Map<string, number>();
  const others = new Set<string>();
  return (digest) => {
    const { hash, sizeBytes } = digest;
    const known = sizes.get(hash);
    if (known === undefined) {
      sizes.set(hash, sizeBytes);
      return true;
    }
    if (known === sizeBytes) return false;
    const key = digestKey(digest);
    if (others.has(key)) return false;
    others.add(key);
    return true;
  };
}

/** Returns the function of a digest. */
export function functionOf(digest: Digest): DigestFunction {
  const dash = digest.hash.indexOf("-");
  return dash < 0 ? "sha256" : (digest.hash.slice(0, dash) as DigestFunction);
}

/** Returns the hex digits without the function, for protocols that state the function elsewhere or not at all. */
export function hexOf(digest: Digest): string {
  return digest.hash.slice(digest.hash.indexOf("-") + 1);
}

/** Returns whether the text has the length and digits of a hash by this function. */
export function isHexOf(name: DigestFunction, hex: string): boolean {
  return hex.length === hexDigits[name] && /^[0-9a-f]*$/.test(hex);
}

/**
 * Returns the function of a hash without a stated function, by its length; undefined when none fits. BLAKE3 must be
 * stated: 64 digits are SHA-256.
 */
export function functionByLength(hex: string): DigestFunction | undefined {
  return digestFunctions.find((name) => hexDigits[name] === hex.length);
}

/** Throws when the digits are not a hash by the function, or the size is invalid. */
export function digestFrom(name: DigestFunction, hex: string, sizeBytes: number): Digest {
  // Checked by hand, because requests have tens of thousands: the schema takes ten times as long.
  return isHexOf(name, hex)
    ? digestFromDigits(name, hex, sizeBytes)
    : Digest.parse({ hash: hashOf(name, hex), sizeBytes });
}

/** The same for what is known to be hex digits: whoever decoded them looked at each byte. */
export function digestFromDigits(name: DigestFunction, digits: string, sizeBytes: number): Digest {
  const digest = { hash: hashOf(name, digits), sizeBytes };
  const isOne =
    digits.length === hexDigits[name] && Number.isSafeInteger(sizeBytes) && sizeBytes >= 0;
  return isOne ? (Object.freeze(digest) as Digest) : Digest.parse(digest);
}

function hashOf(name: DigestFunction, hex: string): string {
  return name === "sha256" ? hex : `${name}-${hex}`;
}

const emptyDigests: Readonly<Record<DigestFunction, Digest>> = {
  sha256: empty("sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
  sha1: empty("sha1", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
  sha384: empty(
    "sha384",
    "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
  ),
  sha512: empty(
    "sha512",
    "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
  ),
  md5: empty("md5", "d41d8cd98f00b204e9800998ecf8427e"),
  blake3: empty("blake3", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
};

/** The digest of no bytes. Every store has this blob without an upload. */
export const emptyDigest: Digest = emptyDigests.sha256;

/** Returns the digest of the empty blob by a function. */
export function emptyDigestBy(name: DigestFunction): Digest {
  return emptyDigests[name];
}

/** Returns whether a digest is that of the empty blob. Size 0 with another hash is not. */
export function isEmptyDigest(digest: Digest): boolean {
  return digest.sizeBytes === 0 && digest.hash === emptyDigests[functionOf(digest)].hash;
}

function empty(name: DigestFunction, hex: string): Digest {
  return digestFrom(name, hex, 0);
}
