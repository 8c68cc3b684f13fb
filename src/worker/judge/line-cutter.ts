/** A line of a log as people see it, and where the log's page shows it. */
export interface SeenLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** Only this part of a longer line is judged. */
export const longestJudged = 4_096;

/** The log's page splits longer lines, and numbers the resulting lines (`web/pages/log/log-lines.ts`). */
const longestShown = 16_384;

/**
 * Escape sequences of terminals, such as colours. Matching takes linear time, because no two parts of the pattern
 * overlap.
 */
const escapeSequence =
  // oxlint-disable-next-line no-control-regex
  /\u001b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;

/**
 * Splits the output of a process into lines as they finally appear: without colours, and with the last text after a
 * carriage return. It stores only the beginning of a long line.
 */
export class LineCutter {
  readonly #decoder = new TextDecoder();
  #number = 1;
  #open = "";
  /** The length of the shown line so far. */
  #length = 0;
  /** Pieces of the current line that the page shows as separate lines. */
  #broken = 0;
  #returned = false;

  push(bytes: Uint8Array): SeenLine[] {
    return this.#cut(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Returns the text after the last newline. */
  end(): SeenLine[] {
    const lines = this.#cut(this.#decoder.decode());
    if (this.#open !== "") lines.push(this.#close());
    return lines;
  }

  #cut(text: string): SeenLine[] {
    const lines: SeenLine[] = [];
    let at = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", at)) {
      this.#add(text.slice(at, end));
      lines.push(this.#close());
      at = end + 1;
    }
    this.#add(text.slice(at));
    return lines;
  }

  #add(text: string): void {
    if (!text.includes("\r")) return this.#append(text);
    for (const [at, part] of text.split("\r").entries()) {
      if (at > 0) this.#returned = true;
      this.#append(part);
    }
  }

  #append(text: string): void {
    if (text === "") return;
    // A carriage return overwrites only when more text follows it: CR LF only ends a line.
    if (this.#returned) {
      this.#returned = false;
      this.#open = "";
      this.#length = 0;
      this.#broken = 0;
    }
    const room = longestJudged - this.#open.length;
    if (room > 0) this.#open += text.slice(0, room);
    this.#length += text.length;
    while (this.#length > longestShown) {
      this.#length -= longestShown;
      this.#broken++;
    }
  }

  #close(): SeenLine {
    const text = this.#open.includes("\u001b")
      ? this.#open.replace(escapeSequence, "")
      : this.#open;
    const line = { number: this.#number, text };
    this.#number += 1 + this.#broken;
    this.#open = "";
    this.#length = 0;
    this.#broken = 0;
    this.#returned = false;
    return line;
  }
}
