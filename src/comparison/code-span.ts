import { plainWord } from "./verdict-sentence.ts";

/**
 * Returns an untrusted text as a Markdown code span. The text cannot end the span, so it is neither markup, nor a
 * mention, nor a link. Bars are replaced, because one would end a table cell even inside a code span.
 */
export function codeSpan(text: string): string {
  const plain = plainWord(text).replaceAll("`", "'").replaceAll("|", "¦");
  return plain === "" ? "(nothing)" : `\`${plain}\``;
}
