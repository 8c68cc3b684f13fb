/** Controls, marks that turn the direction of what follows, and what takes no room at all. */
const unseen = /[\p{Cc}\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/gu;

/** Text of others on one line: what nobody would see, or what would disguise the rest, is a mark instead. */
export function shownText(text: string): string {
  return text.replace(unseen, "\uFFFD");
}

/** The same, of text whose lines are to stay apart. */
export function shownLines(text: string): string {
  return text.split(/\r?\n/).map(shownText).join("\n");
}
