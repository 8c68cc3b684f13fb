import { type Digest, parseDigestKey } from "#core/digest.ts";

/** Parses a digest `hash/size`; undefined for any other text. */
export function digestNamed(text: string): Digest | undefined {
  try {
    return parseDigestKey(text);
  } catch {
    return undefined;
  }
}
