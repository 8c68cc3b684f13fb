/** A link of a Markdown document to a place in the same repository. */
interface DocumentLink {
  readonly line: number;
  /** As written; empty for a link within the document. */
  readonly path: string;
  /** The text after `#`; undefined if there is none. */
  readonly anchor: string | undefined;
}

/** Returns the relative links and images of a document, without those in code. */
export function linksIn(markdown: string): DocumentLink[] {
  return linesOfText(markdown).flatMap(({ text, line }) =>
    Array.from(
      text.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(<?([^()\s>]+)>?(?: "[^"]*")?\)/g),
    ).flatMap(([, target = ""]) => {
      if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return [];
      const [path = "", anchor] = target.split("#");
      return { line, path: decodeURIComponent(path), anchor };
    }),
  );
}

/** Returns the anchors that a forge gives to the headings of a document, in order. */
export function anchorsIn(markdown: string): string[] {
  const seen = new Map<string, number>();
  return linesOfText(markdown).flatMap(({ text }) => {
    const [, heading] = /^#{1,6} +(.*?)[ #]*$/.exec(text) ?? [];
    if (heading === undefined) return [];
    const anchor = anchorOf(heading);
    const earlier = seen.get(anchor) ?? 0;
    seen.set(anchor, earlier + 1);
    return earlier === 0 ? anchor : `${anchor}-${earlier}`;
  });
}

function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/** Returns the lines outside fenced code; numbers start with 1. */
function linesOfText(markdown: string): { text: string; line: number }[] {
  let fence: string | undefined;
  return markdown.split("\n").flatMap((text, index) => {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(text) ?? [];
    if (fence === undefined && mark !== undefined) {
      fence = mark;
      return [];
    }
    if (fence === undefined) return { text, line: index + 1 };
    if (mark?.startsWith(fence)) fence = undefined;
    return [];
  });
}
