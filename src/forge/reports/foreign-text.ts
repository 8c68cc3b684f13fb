import { codeSpan } from "#comparison/code-span.ts";

/** A word that cannot be Markdown, a mention, a reference (`#1`, `GH-1`, a commit's id) or a link. */
const harmless = /^["'(]*(?!GH-)\p{L}(?:[\p{L}'-]{0,39}\p{L})?["'),.:;?!]*$/iu;
const number = /^["'(]*\d{1,6}(?:[.:]\d{1,6})?["'),.:;%?!]*$/;
/** A forge interprets seven or more hex digits as a commit. */
const commit = /[0-9a-f]{7,}/i;
const sign = /^(?:–|—|->|→|=|\/|&)$/;

/**
 * Returns a sentence of the farm that may contain foreign words, as Markdown: everything that is not clearly a word is
 * put into a code span.
 */
export function sentenceAsMarkdown(sentence: string, most = 2_000): string {
  const cut = sentence.length > most ? `${sentence.slice(0, most - 1)}…` : sentence;
  const words = cut
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Surrogate}]+/gu, " ")
    .trim()
    .split(" ");
  const parts: string[] = [];
  let odd: string[] = [];
  const endOdd = () => {
    if (odd.length > 0) parts.push(...inSpans(odd));
    odd = [];
  };
  for (const word of words) {
    if ((harmless.test(word) && !commit.test(word)) || number.test(word) || sign.test(word)) {
      endOdd();
      parts.push(word);
    } else odd.push(word);
  }
  endOdd();
  return parts.join(" ");
}

/** Consecutive unusual words share a span; punctuation at the end of a clause stays outside. */
function inSpans(words: readonly string[]): string[] {
  const [, text = "", end = ""] = /^([^]*?)([.,;:?!]?)$/.exec(words.join(" ")) ?? [];
  const pieces: string[] = [];
  // A span has at most 200 characters; longer words are divided.
  let piece = "";
  for (const word of text.split(" ")) {
    if (piece !== "" && piece.length + word.length + 1 > 200) {
      pieces.push(codeSpan(piece));
      piece = "";
    }
    piece = piece === "" ? word : `${piece} ${word}`;
  }
  if (piece !== "") pieces.push(codeSpan(piece));
  const last = pieces.pop();
  return last === undefined ? [end] : [...pieces, `${last}${end}`];
}
