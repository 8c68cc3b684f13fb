import { afterSgr, type Style } from "./style.ts";

/** Receives the visible content of a line, from left to right. */
interface LineSink {
  /** Text to show unchanged. */
  text(text: string, style: Style): void;
  /** A control character: its name is shown in its place. */
  mark(name: string): void;
}

// C0 without tab, C1, and characters that change the order or the breaks of the surrounding text: bidi controls
// (CVE-2021-42574), line and paragraph separators, zero-width space and BOM.
const special =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g;
const controlSequence = /[0-?]*[ -/]*[@-~]/y;
const shortSequence = /[ -/]*[0-~]/y;

/**
 * Scans a line once: the time is linear in its length, whatever it contains.
 *
 * SGR sequences change the style; all other escape sequences are dropped, because they would move a cursor, set a
 * title, or fill a clipboard. A string sequence (OSC, DCS, …) without an end in the line is not treated as a sequence:
 * its text is shown, so that nothing can hide the rest of a line.
 *
 * @returns the style in which the next line begins
 */
export function scanLine(line: string, start: Style, sink: LineSink): Style {
  let style = start;
  let at = 0;
  const terminators = new TerminatorFinder(line);

  while (at < line.length) {
    special.lastIndex = at;
    const found = special.exec(line);
    const end = found?.index ?? line.length;
    if (end > at) sink.text(line.slice(at, end), style);
    if (found === null) break;
    at = end + 1;

    if (found[0] !== "\u001b") {
      sink.mark(nameOf(found[0]));
      continue;
    }
    const kind = line[at];
    if (kind === "[") {
      controlSequence.lastIndex = at + 1;
      const [sequence] = controlSequence.exec(line) ?? [];
      if (sequence === undefined) {
        sink.mark("ESC");
        continue;
      }
      at += 1 + sequence.length;
      if (isSgr(sequence)) style = afterSgr(style, sequence.slice(0, -1));
    } else if (kind !== undefined && "]PX^_".includes(kind)) {
      const after = terminators.after(at + 1);
      if (after === undefined) sink.mark("ESC");
      else at = after;
    } else {
      shortSequence.lastIndex = at;
      const [sequence] = shortSequence.exec(line) ?? [];
      if (sequence === undefined) sink.mark("ESC");
      else at += sequence.length;
    }
  }
  return style;
}

/** `m`, and only digits and separators before it: `>4;1m` is xterm's and means something else. */
function isSgr(sequence: string): boolean {
  return /^[\d;:]*m$/.test(sequence);
}

/** Finds the ends of string sequences: after BEL or `ESC \`. After it has found none, it does not search again. */
class TerminatorFinder {
  readonly #line: string;
  #bell = -2;
  #escape = -2;

  constructor(line: string) {
    this.#line = line;
  }

  after(from: number): number | undefined {
    this.#bell = this.#next(this.#bell, "\u0007", from);
    this.#escape = this.#next(this.#escape, "\u001b\\", from);
    if (this.#bell === -1 && this.#escape === -1) return undefined;
    const bellFirst = this.#escape === -1 || (this.#bell !== -1 && this.#bell < this.#escape);
    return bellFirst ? this.#bell + 1 : this.#escape + 2;
  }

  #next(known: number, terminator: string, from: number): number {
    return known === -1 || known >= from ? known : this.#line.indexOf(terminator, from);
  }
}

const c0 =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(
    " ",
  );

/** ASCII's names, which every font can show, unlike the pictures of U+2400; numbers for the rest. */
function nameOf(char: string): string {
  const code = char.charCodeAt(0);
  if (code === 0x7f) return "DEL";
  const name = c0[code];
  if (name !== undefined) return name;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
