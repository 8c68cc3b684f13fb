/** What can be signed. */
export type SignedKind = "catalog";

/**
 * The text that is signed for a digest.
 *
 * The first line keeps apart what else the same key may sign one day; both sides make it, so that nobody
 * signs a text of somebody else's choice.
 */
export function signedText(kind: SignedKind, digest: string): string {
  return `grange ${kind} v1\n${digest}\n`;
}
