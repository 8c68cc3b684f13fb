/** The kinds of things that can be signed. */
export type SignedKind = "catalog";

/**
 * Returns the text that is signed for a digest.
 *
 * The first line separates it from other uses of the same key. Both sides build the text, so that no party signs a text
 * chosen by another.
 */
export function signedText(kind: SignedKind, digest: string): string {
  return `grange ${kind} v1\n${digest}\n`;
}
