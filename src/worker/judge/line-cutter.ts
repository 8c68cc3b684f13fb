/** A line of a log as people see it, and where the log's page shows it. */
export interface SeenLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** Of a longer line, only so much is judged. */
export const longestJudged = 4_096;

/** The log's page breaks longer lines, and numbers what it shows (`web/pages/log/log-lines.ts`). */
const longestShown = 16_384;

/** Colours and the like: what steers a terminal, and nobody sees. Linear: no two of its parts meet. */
const escapeSequence =
  // oxlint-disable-next-line no-control-regex
  /\u001b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;

/**
 * Cuts what a process prints into lines, as they stand in the end: without colours, and of
 * what carriage returns overwrote, only the last. It keeps one line's beginning, however long lines are.
 */
export class LineCutter {
  readonly #decoder = new TextDecoder();
  #number = 1;
  #open = "";
  /** Of the line as it is shown: how long it is by now. */
  #length = 0;
  /** Pieces of the open line that the page shows as lines of their own. */
  #broken = 0;
  #returned = false;

  push(bytes: Uint8Array): SeenLine[] {
    return this.#cut(this.#decoder.decode(bytes, { stream: true }));
  }

  /** What is left after the last newline. */
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
    // A carriage return overwrites only when something follows it: CR LF just ends a line.
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
