import {
  type Digest,
  type DigestFunction,
  digestFrom,
  digestFunctions,
  functionByLength,
  functionOf,
  hexOf,
  isHexOf,
} from "#core/digest.ts";

/** A digest found in a name, and the position of the segment behind it. */
interface DigestInName {
  readonly digest: Digest;
  readonly next: number;
}

/** Each number has only one spelling, so that a blob has one name. */
const wholeNumber = /^(?:0|[1-9]\d{0,15})$/;

/**
 * Parses `[function/]hash/size` from a ByteStream name's segments; undefined when they are not a digest.
 *
 * In REv2, such names contain the function only for BLAKE3, because the length identifies the others. Names with
 * another function are accepted, too.
 */
export function digestInName(segments: readonly string[], at: number): DigestInName | undefined {
  const named = digestFunctions.find((name) => name === segments[at]);
  const hashAt = named === undefined ? at : at + 1;
  const [hex = "", size = ""] = segments.slice(hashAt, hashAt + 2);
  const name: DigestFunction | undefined = named ?? functionByLength(hex);
  if (name === undefined || !isHexOf(name, hex) || !wholeNumber.test(size)) return undefined;
  const sizeBytes = Number(size);
  if (!Number.isSafeInteger(sizeBytes)) return undefined;
  return { digest: digestFrom(name, hex, sizeBytes), next: hashAt + 2 };
}

/** Returns a digest for names: `hash/size`, and for BLAKE3 `blake3/hash/size`. */
export function digestForName(digest: Digest): string {
  const plain = `${hexOf(digest)}/${digest.sizeBytes}`;
  return functionOf(digest) === "blake3" ? `blake3/${plain}` : plain;
}
