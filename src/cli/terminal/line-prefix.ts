/** Writes text in whole lines, each with the same prefix: for several programs that print at the same time. */
export class LinePrefix {
  readonly #prefix: string;
  readonly #write: (text: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(prefix: string, write: (text: string) => void) {
    this.#prefix = prefix;
    this.#write = write;
  }

  write(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    if (lines.length > 0) this.#write(lines.map((line) => `${this.#prefix}${line}\n`).join(""));
  }

  /** Writes a last line without a newline. */
  end(): void {
    if (this.#rest !== "") this.#write(`${this.#prefix}${this.#rest}\n`);
    this.#rest = "";
  }
}
