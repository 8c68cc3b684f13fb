import { plain, type Style } from "./style.ts";
import { styleAfter } from "./tokenize-line.ts";

/** A line in the log view: raw, and tokenized when it becomes visible. */
interface LogLine {
  readonly raw: string;
  readonly style: Style;
  /** How many earlier states of it were overwritten by carriage returns, as by progress bars. */
  readonly folded: number;
}

/**
 * Longer lines are split, so that a log without newlines is neither scanned again for each chunk, nor drawn as one
 * piece.
 */
export const longestLine = 16_384;

/** An SGR sequence that sets both colours, and some more. */
const longestSequence = 64;

/**
 * Splits a growing text into lines.
 *
 * Chunks may end anywhere. Only complete lines are split off, so each character is scanned a limited number of times. A
 * million lines need two arrays.
 */
export class LogLines {
  readonly #raw: string[] = [];
  readonly #styles: Style[] = [];
  readonly #folded = new Map<number, number>();
  #open = "";
  #openStyle = plain;
  #openFolded = 0;

  /** The number of complete lines, plus the unfinished one if it has visible text. */
  get count(): number {
    return this.#raw.length + (this.#open === "" && this.#openFolded === 0 ? 0 : 1);
  }

  at(index: number): LogLine | undefined {
    const raw = this.#raw[index];
    if (raw === undefined) {
      if (index !== this.#raw.length || this.count === index) return undefined;
      const shown = this.#open.endsWith("\r") ? this.#open.slice(0, -1) : this.#open;
      return { raw: shown, style: this.#openStyle, folded: this.#openFolded };
    }
    return { raw, style: this.#styles[index] ?? plain, folded: this.#folded.get(index) ?? 0 };
  }

  push(chunk: string): void {
    let at = 0;
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", at)) {
      this.#open += chunk.slice(at, end);
      this.#close();
      at = end + 1;
    }
    if (at === chunk.length) return;
    this.#open += chunk.slice(at);
    this.#fold();
    while (this.#open.length > longestLine) this.#breakOpen();
  }

  #close(): void {
    this.#fold();
    if (this.#open.endsWith("\r")) this.#open = this.#open.slice(0, -1);
    while (this.#open.length > longestLine) this.#breakOpen();
    this.#add(this.#open);
    this.#open = "";
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
  }

  #breakOpen(): void {
    // Does not split a surrogate pair or a colour sequence.
    const high = this.#open.charCodeAt(longestLine - 1);
    const whole = high >= 0xd800 && high <= 0xdbff ? longestLine - 1 : longestLine;
    const escape = this.#open.lastIndexOf("\u001b", whole - 1);
    const cut = escape > 0 && whole - escape < longestSequence ? escape : whole;
    const rest = this.#open.slice(cut);
    this.#add(this.#open.slice(0, cut));
    this.#open = rest;
  }

  #add(raw: string): void {
    if (this.#openFolded > 0) this.#folded.set(this.#raw.length, this.#openFolded);
    this.#raw.push(raw);
    this.#styles.push(this.#openStyle);
    this.#openStyle = styleAfter(raw, this.#openStyle);
    this.#openFolded = 0;
  }
}
