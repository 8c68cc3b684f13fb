const escape = 0x1b;
const bell = 0x07;

type Within = "text" | "begun" | "intermediate" | "control" | "string" | "string-escape";

/** The meaning of a byte for a terminal: text within a sequence is a title, or the address of a link. */
type Seen = "text" | "sequence" | "text-in-sequence";

/** Separates escape sequences of terminals (ECMA-48) from text. */
export class EscapeReader {
  #within: Within = "text";

  read(byte: number): Seen {
    const wasInString = this.#within === "string";
    if (!this.#isOfSequence(byte)) return "text";
    return wasInString && this.#within === "string" ? "text-in-sequence" : "sequence";
  }

  #isOfSequence(byte: number): boolean {
    switch (this.#within) {
      case "text":
        if (byte !== escape) return false;
        this.#within = "begun";
        return true;
      case "begun":
        this.#within = afterEscape(byte);
        return true;
      case "intermediate":
        if (byte >= 0x30) this.#within = "text";
        return true;
      case "control":
        if (byte === escape) this.#within = "begun";
        else if (byte >= 0x40 && byte <= 0x7e) this.#within = "text";
        return true;
      case "string":
        if (byte === bell) this.#within = "text";
        else if (byte === escape) this.#within = "string-escape";
        return true;
      case "string-escape":
        // `ESC \` ends it; any other sequence interrupts it.
        this.#within = byte === 0x5c ? "text" : afterEscape(byte);
        return true;
    }
  }
}

function afterEscape(byte: number): Within {
  if (byte === 0x5b) return "control";
  if ([0x5d, 0x50, 0x58, 0x5e, 0x5f].includes(byte)) return "string";
  if (byte >= 0x20 && byte <= 0x2f) return "intermediate";
  return byte === escape ? "begun" : "text";
}
