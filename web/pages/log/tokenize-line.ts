import { scanLine } from "./scan-line.ts";
import { plain, type Style, same } from "./style.ts";

export type Token =
  | { readonly kind: "text"; readonly text: string; readonly style: Style }
  | { readonly kind: "link"; readonly text: string; readonly style: Style }
  | { readonly kind: "mark"; readonly text: string }
  /** The line has more, but a browser would stall on it. */
  | { readonly kind: "more"; readonly text: string };

/** More than any line that is meant to be read; a line of 10⁶ colour changes must not stall the page. */
const mostTokens = 1_000;

// Only what begins with http:// or https:// is made a link; trailing punctuation belongs to the sentence.
const address = /https?:\/\/[^\s<>"'`{}|\\^[\]]*[^\s<>"'`{}|\\^[\].,;:!?)]/g;

/** One line as pieces to be drawn. Their text is only ever text: nothing here is markup. */
export function tokenizeLine(line: string, start: Style): Token[] {
  const tokens: Token[] = [];
  let pending = "";
  let pendingStyle = plain;
  let left = 0;

  const flush = () => {
    if (pending !== "") pushWithLinks(tokens, pending, pendingStyle);
    pending = "";
  };
  scanLine(line, start, {
    text(text, style) {
      if (tokens.length >= mostTokens) {
        left += text.length;
        return;
      }
      if (!same(style, pendingStyle)) flush();
      pendingStyle = style;
      pending += text;
    },
    mark(name) {
      if (tokens.length >= mostTokens) {
        left += 1;
        return;
      }
      flush();
      tokens.push({ kind: "mark", text: name });
    },
  });
  flush();
  if (left > 0) {
    tokens.push({
      kind: "more",
      text: `… ${left.toLocaleString("en")} more characters; download the log to see them`,
    });
  }
  return tokens;
}

/** The line's text without escapes and marks: what a search looks at. */
export function plainText(line: string): string {
  let text = "";
  scanLine(line, plain, {
    text(part) {
      text += part;
    },
    mark() {},
  });
  return text;
}

/** The style in which the line after this one begins. */
export function styleAfter(line: string, start: Style): Style {
  const last = line.lastIndexOf("\u001b");
  if (last === -1) return start;
  // Most coloured lines end in a reset; only a bell after it could make it part of a string.
  const reset = line.startsWith("[0m", last + 1) || line.startsWith("[m", last + 1);
  if (reset && !line.includes("\u0007", last)) return plain;
  return scanLine(line, start, { text() {}, mark() {} });
}

function pushWithLinks(tokens: Token[], text: string, style: Style): void {
  let at = 0;
  if (text.includes("http")) {
    for (const match of text.matchAll(address)) {
      if (match.index > at) tokens.push({ kind: "text", text: text.slice(at, match.index), style });
      tokens.push({ kind: "link", text: match[0], style });
      at = match.index + match[0].length;
    }
  }
  if (at < text.length) tokens.push({ kind: "text", text: text.slice(at), style });
}
