import { plainWord } from "./verdict-sentence.ts";

/**
 * A word that others chose, in a code span of Markdown that it cannot leave: there it is neither markup, nor a
 * mention of somebody, nor a link. A bar would end a table's cell even inside one.
 */
export function codeSpan(text: string): string {
  const plain = plainWord(text).replaceAll("`", "'").replaceAll("|", "¦");
  return plain === "" ? "(nothing)" : `\`${plain}\``;
}
