import { type Digest, parseDigestKey } from "#core/digest.ts";

/** The digest that a text is, as `hash/size`; undefined for any other text, which then names nothing. */
export function digestNamed(text: string): Digest | undefined {
  try {
    return parseDigestKey(text);
  } catch {
    return undefined;
  }
}
