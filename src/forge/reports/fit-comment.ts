/** GitHub: "body is too long (maximum is 65536 characters)". */
export const longestComment = 65_536;

/** A part of a comment; later ones are removed first when there is no room. */
export interface CommentPart {
  readonly text: string;
  /** Whether it must never be removed. */
  readonly isNeeded: boolean;
}

/**
 * Returns the parts that fit, in order, and a sentence that counts the omitted parts. Line breaks count twice, because
 * some forges store them as two characters.
 */
export function fitComment(
  parts: readonly CommentPart[],
  whereAll: string,
  most = longestComment,
): string {
  const whole = parts.map(({ text }) => text);
  if (lengthOf(whole) <= most) return whole.join("\n\n");
  const kept = parts.map(({ isNeeded }) => isNeeded);
  const text = () => {
    const left = kept.filter((is) => !is).length;
    const note = `*${left} ${left === 1 ? "part is" : "parts are"} left out: a comment cannot contain all of them. ${whereAll}*`;
    return [...whole.filter((_, i) => kept[i]), note];
  };
  let length = lengthOf(text()) + 10;
  for (const [i, part] of parts.entries()) {
    if (part.isNeeded) continue;
    const longer = length + costOf(part.text);
    if (longer > most) break;
    kept[i] = true;
    length = longer;
  }
  // A heading without its content is removed.
  for (
    let i = kept.lastIndexOf(
      true,
      parts.findLastIndex((part, at) => kept[at] === true && !part.isNeeded),
    );
    i >= 0;
    i -= 1
  ) {
    const part = parts[i];
    if (part === undefined || part.isNeeded || !part.text.startsWith("#")) break;
    kept[i] = false;
  }
  return text().join("\n\n");
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + costOf(text), 0);
}

function costOf(text: string): number {
  let breaks = 2;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) breaks += 1;
  return text.length + 2 * breaks;
}

/** The blocks of a report's Markdown; a foldable section is one. */
export function blocksOf(markdown: string): string[] {
  const blocks: string[] = [];
  let open: string | undefined;
  for (const block of markdown.split("\n\n")) {
    if (open !== undefined) open = `${open}\n\n${block}`;
    else if (block.startsWith("<details>")) open = block;
    else blocks.push(block);
    if (open?.endsWith("</details>") === true) {
      blocks.push(open);
      open = undefined;
    }
  }
  return open === undefined ? blocks : [...blocks, open];
}
