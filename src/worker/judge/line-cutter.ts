/** A line of a log as people see it, and its number on the page of the log, which counts newlines. */
export interface SeenLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** Only this part of a longer line is judged. */
export const longestJudged = 4_096;

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
    }
    const room = longestJudged - this.#open.length;
    if (room > 0) this.#open += text.slice(0, room);
  }

  #close(): SeenLine {
    const text = this.#open.includes("\u001b")
      ? this.#open.replace(escapeSequence, "")
      : this.#open;
    const line = { number: this.#number, text };
    this.#number += 1;
    this.#open = "";
    this.#returned = false;
    return line;
  }
}
