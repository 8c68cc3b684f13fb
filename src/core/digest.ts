import { z } from "zod";

/**
 * The name of a blob: the SHA-256 of its bytes, and how many bytes there are.
 *
 * Only `Digest.parse`, `parseDigestKey` and `digestOf` make one. A function that
 * takes a Digest can therefore trust it, and need not check hash or size again.
 */
export const Digest = z
  .object({
    hash: z.string().regex(/^[0-9a-f]{64}$/, "a hash is 64 lower-case hex digits"),
    sizeBytes: z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER),
  })
  .readonly()
  .brand<"Digest">();
export type Digest = z.infer<typeof Digest>;

/** The form that appears in ByteStream names, in tables and in logs: `<hash>/<size>`. */
export function digestKey(digest: Digest): string {
  return `${digest.hash}/${digest.sizeBytes}`;
}

/** The inverse of `digestKey`; throws when the text is not one. */
export function parseDigestKey(key: string): Digest {
  const slash = key.indexOf("/");
  return Digest.parse({ hash: key.slice(0, slash), sizeBytes: Number(key.slice(slash + 1)) });
}

/** The digest of no bytes. It is in every store without having been put there. */
export const emptyDigest: Digest = Digest.parse({
  hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  sizeBytes: 0,
});
