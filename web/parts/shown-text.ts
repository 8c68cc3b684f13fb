/** Control characters, marks that change the text direction, and invisible characters. */
const unseen = /[\p{Cc}\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu;

/** Returns foreign text on one line: invisible or disguising characters are replaced by a mark. */
export function shownText(text: string): string {
  return text.replace(unseen, "\uFFFD");
}

/** The same for text with several lines. */
export function shownLines(text: string): string {
  return text.split(/\r?\n/).map(shownText).join("\n");
}
