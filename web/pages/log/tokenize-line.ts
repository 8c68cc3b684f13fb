import { numberText } from "../../parts/number-text.ts";
import { scanLine } from "./scan-line.ts";
import { plain, type Style, same } from "./style.ts";

export type Token =
  | { readonly kind: "text"; readonly text: string; readonly style: Style }
  | { readonly kind: "link"; readonly text: string; readonly style: Style }
  | { readonly kind: "mark"; readonly text: string }
  /** The line continues, but would block the browser. */
  | { readonly kind: "more"; readonly text: string };

/** More than any readable line has; a line of 10⁶ colour changes must not block the page. */
const mostTokens = 1_000;

// Only text that begins with http:// or https:// becomes a link; trailing punctuation belongs to the sentence.
const address = /https?:\/\/[^\s<>"'`{}|\\^[\]]*[^\s<>"'`{}|\\^[\].,;:!?)]/g;

/** Returns a line as pieces to draw. Their text is always plain text, never markup. */
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
      text: `… ${numberText(left)} more characters; download the log to see them`,
    });
  }
  return tokens;
}

/** Returns the line's text without escape sequences and marks, for the search. */
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

/** Returns the style at the beginning of the next line. */
export function styleAfter(line: string, start: Style): Style {
  const last = line.lastIndexOf("\u001b");
  if (last === -1) return start;
  // Most coloured lines end with a reset; only a later BEL could make it part of a string.
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
