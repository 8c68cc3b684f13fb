import { plain, type Style } from "./style.ts";
import { styleAfter } from "./tokenize-line.ts";

/** A line in the log view: raw, and tokenized when it becomes visible. */
export interface LogLine {
  /** At most `longestLine` characters. */
  readonly raw: string;
  readonly style: Style;
  /** How many earlier states of it were overwritten by carriage returns, as by progress bars. */
  readonly folded: number;
  /** How many characters of it are not in `raw`. */
  readonly hidden: number;
}

/** Of a longer line only the beginning is held, so that it is neither scanned for each chunk, nor blocks the browser. */
export const longestLine = 16_384;

/** An SGR sequence that sets both colours, and some more. */
const longestSequence = 64;

/**
 * Splits a growing text into lines, at newlines only: so a line has the number that other programs give it.
 *
 * Chunks may end anywhere. Only complete lines are split off, so each character is scanned a limited number of times.
 */
export class LogLines {
  #lines: LogLine[] = [];
  #open = "";
  #openStyle = plain;
  #openFolded = 0;
  #openHidden = 0;

  /** The number of complete lines, plus the unfinished one if it has visible text. */
  get count(): number {
    return this.#lines.length + (this.#open === "" && this.#openFolded === 0 ? 0 : 1);
  }

  /** Characters of all lines, roughly. */
  size = 0;

  at(index: number): LogLine | undefined {
    if (index !== this.#lines.length || this.count === index) return this.#lines[index];
    const raw = this.#open.endsWith("\r") ? this.#open.slice(0, -1) : this.#open;
    return { raw, style: this.#openStyle, folded: this.#openFolded, hidden: this.#openHidden };
  }

  /** Says of the last line that so many more characters follow, which were not read. */
  hideAtEnd(count: number): void {
    this.#openHidden += count;
  }

  /** Drops the first lines, at most all complete ones. */
  dropFirst(count: number): void {
    for (const { raw } of this.#lines.slice(0, count)) this.size -= raw.length;
    this.#lines = this.#lines.slice(count);
  }

  push(chunk: string): void {
    let at = 0;
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", at)) {
      this.#append(chunk.slice(at, end));
      this.#close();
      at = end + 1;
    }
    if (at === chunk.length) return;
    this.#append(chunk.slice(at));
    this.#fold();
    this.#shorten();
  }

  /** Text after a part that was dropped is dropped, too, unless it overwrites the line. */
  #append(text: string): void {
    const isCut = this.#openHidden > 0 && !this.#open.endsWith("\r");
    const kept = isCut ? text.indexOf("\r") : 0;
    const dropped = kept === -1 ? text.length : kept;
    this.#openHidden += dropped;
    this.#open += text.slice(dropped);
  }

  #close(): void {
    this.#fold();
    this.#shorten();
    const raw = this.#open.endsWith("\r") ? this.#open.slice(0, -1) : this.#open;
    const line = {
      raw,
      style: this.#openStyle,
      folded: this.#openFolded,
      hidden: this.#openHidden,
    };
    this.#lines.push(line);
    this.size += raw.length;
    this.#openStyle = styleAfter(raw, this.#openStyle);
    this.#open = "";
    this.#openFolded = 0;
    this.#openHidden = 0;
  }

  /** Drops text that a carriage return overwrites; its colours still apply. */
  #fold(): void {
    // Carriage returns at the very end overwrite nothing yet: CR LF ends a line, and so does CR CR LF.
    let end = this.#open.length;
    while (this.#open[end - 1] === "\r") end -= 1;
    if (end < this.#open.length) this.#open = `${this.#open.slice(0, end)}\r`;
    const last = end === 0 ? -1 : this.#open.lastIndexOf("\r", end - 1);
    if (last === -1) return;
    const over = this.#open.slice(0, last);
    this.#openFolded += over.split("\r").filter((part) => part !== "").length;
    this.#openStyle = styleAfter(over, this.#openStyle);
    this.#open = this.#open.slice(last + 1);
    this.#openHidden = 0;
  }

  /** Drops what is too long. A carriage return at the end stays: the next text overwrites the line. */
  #shorten(): void {
    const returns = this.#open.endsWith("\r") ? "\r" : "";
    const length = this.#open.length - returns.length;
    if (length <= longestLine) return;
    // Does not split a surrogate pair or a colour sequence.
    const high = this.#open.charCodeAt(longestLine - 1);
    const whole = high >= 0xd800 && high <= 0xdbff ? longestLine - 1 : longestLine;
    const escape = this.#open.lastIndexOf("\u001b", whole - 1);
    const cut = escape > 0 && whole - escape < longestSequence ? escape : whole;
    this.#openHidden += length - cut;
    this.#open = this.#open.slice(0, cut) + returns;
  }
}
