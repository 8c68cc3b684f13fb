import { canonicalJson } from "#core/canonical-json.ts";
import { rememberName } from "./catalog.ts";
import type { JobDefinition } from "./job-definition.ts";

/** The canonical text of a definition in pieces, with the numbers of the texts between them. */
export interface FrameText {
  readonly pieces: readonly string[];
  /**
   * The number of each text between the pieces. Each text has only one place, but places and texts may have a different
   * order.
   */
  readonly between: readonly number[];
}

/**
 * Cuts the canonical text of a definition where it can contain other texts.
 *
 * `marked` is the definition with `markOf(0)`, `markOf(1)` … in these places. The text of a filled job then need not be
 * serialised again to compute its digest, which is most of the cost.
 */
export function frameText(marked: JobDefinition): FrameText {
  const parts = canonicalJson(marked).split(mark);
  return {
    pieces: parts.filter((_, i) => i % 2 === 0),
    between: parts.filter((_, i) => i % 2 === 1).map(Number),
  };
}

/**
 * Returns a text that occurs in no definition: JSON writes its control character with a backslash, and no other text in
 * this way.
 */
export function markOf(number: number): string {
  return `\u0001${number}\u0001`;
}

const mark = /\\u0001(\d+)\\u0001/;

/** Computes the digest of a filled job from the text of its frame. */
export function nameFilled(
  definition: JobDefinition,
  { pieces, between }: FrameText,
  texts: readonly string[],
): void {
  let text = pieces[0] ?? "";
  between.forEach((number, i) => {
    text += JSON.stringify(texts[number] ?? "").slice(1, -1) + (pieces[i + 1] ?? "");
  });
  rememberName(definition, text);
}
