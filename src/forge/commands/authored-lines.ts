/** Tags whose content is quoted, code, or hidden. */
const notSpoken = /<(\/?)(pre|code|blockquote|details|script|style|textarea|samp|kbd|title)\b/gi;

/**
 * Returns the lines of a comment that are the author's own text, by the relevant rules of CommonMark: no quotes (with
 * the lines that continue them without a sign), no code in fences, by indentation or between backticks, no comments of
 * HTML, and nothing in tags that hide, quote or set code.
 *
 * If it is unclear, a line is left out: a missed command can be repeated, but a misread one is carried out.
 */
export function authoredLines(body: string): string[] {
  const spoken: string[] = [];
  let paragraph: string[] = [];
  let fence: { readonly sign: string; readonly length: number } | undefined;
  let isQuote = false;
  let isHidden = false;
  let depth = 0;

  const endParagraph = () => {
    spoken.push(...outsideCodeSpans(paragraph));
    paragraph = [];
  };

  for (const line of body.split(/\r\n|\r|\n/)) {
    if (fence !== undefined) {
      if (closes(line, fence)) fence = undefined;
      continue;
    }
    if (line.trim() === "") {
      isQuote = false;
      endParagraph();
      continue;
    }
    if (isHidden) {
      if (line.includes("-->")) isHidden = false;
      continue;
    }
    const opened = depth === 0 ? fenceOf(line) : undefined;
    if (opened !== undefined) {
      fence = opened;
      isQuote = false;
      endParagraph();
      continue;
    }
    if (/^ {0,3}>/.test(line)) {
      isQuote = true;
      endParagraph();
      continue;
    }
    const before = depth;
    // Text between backticks on one line is not a tag.
    const plain = line.replaceAll(/`[^`]*`/g, "");
    for (const [, slash] of plain.matchAll(notSpoken)) {
      depth = Math.max(0, depth + (slash === "/" ? -1 : 1));
    }
    const comment = plain.lastIndexOf("<!--");
    isHidden = comment !== -1 && !plain.includes("-->", comment);
    const isCode = paragraph.length === 0 && /^(?: {4}| {0,3}\t)/.test(line);
    if (before > 0 || isQuote || isCode) continue;
    paragraph.push(line);
  }
  endParagraph();
  return spoken;
}

function fenceOf(line: string): { readonly sign: string; readonly length: number } | undefined {
  const [, signs, rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (signs === undefined) return undefined;
  const sign = signs.slice(0, 1);
  // Backticks later in the text make it a code span.
  return sign === "`" && rest.includes("`") ? undefined : { sign, length: signs.length };
}

function closes(line: string, { sign, length }: { sign: string; length: number }): boolean {
  const [, signs] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
  return signs !== undefined && signs.startsWith(sign) && signs.length >= length;
}

/** Returns the lines of a paragraph that do not begin in a code span, because a span may cover several lines. */
function outsideCodeSpans(lines: readonly string[]): string[] {
  const text = lines.join("\n");
  const runs = [...text.matchAll(/`+/g)].map(({ index, 0: { length } }) => ({ index, length }));
  // For each run of backticks, the next run of the same length closes it.
  const next = new Map<number, number>();
  const later = new Map<number, number>();
  for (const [i, { length }] of [...runs.entries()].toReversed()) {
    const closing = later.get(length);
    if (closing !== undefined) next.set(i, closing);
    later.set(length, i);
  }
  const spans: { readonly from: number; readonly to: number }[] = [];
  for (let i = 0; i < runs.length; i += 1) {
    const closing = next.get(i);
    if (closing === undefined) continue;
    spans.push({ from: runs[i]?.index ?? 0, to: runs[closing]?.index ?? 0 });
    i = closing;
  }
  let at = 0;
  let span = 0;
  return lines.filter((line) => {
    const start = at;
    at += line.length + 1;
    while ((spans[span]?.to ?? Number.POSITIVE_INFINITY) < start) span += 1;
    const here = spans[span];
    return here === undefined || start <= here.from || start > here.to;
  });
}
