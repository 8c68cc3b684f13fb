import { Fault } from "#core/fault.ts";

/** A canonical S-expression: bytes, or a list of expressions. */
export type Csexp = Uint8Array | readonly Csexp[];

/** The limits of one expression. A sender that exceeds them is disconnected. */
interface CsexpLimits {
  readonly atomBytes: number;
  readonly depth: number;
  /** The number of atoms and lists together. */
  readonly items: number;
}

/** dune's longest message is a `promote`: two atoms for each file of a rule. */
const duneLimits: CsexpLimits = { atomBytes: 64 * 1_024, depth: 16, items: 200_000 };

const [zero, nine, colon, opening, closing] = [0x30, 0x39, 0x3a, 0x28, 0x29];

/** Parses bytes as they arrive; returns the completed expressions. */
export class CsexpParser {
  readonly #limits: CsexpLimits;
  readonly #open: Csexp[][] = [];
  #items = 0;
  #length: number | undefined;
  #atom: Uint8Array | undefined;
  #filled = 0;

  constructor(limits: CsexpLimits = duneLimits) {
    this.#limits = limits;
  }

  /** Whether no expression is incomplete. */
  get isBetween(): boolean {
    return this.#open.length === 0 && this.#length === undefined && this.#atom === undefined;
  }

  /** Throws `invalid_argument` when they are malformed or too large; nothing can be read after that. */
  push(bytes: Uint8Array): Csexp[] {
    const whole: Csexp[] = [];
    for (let at = 0; at < bytes.length; ) {
      if (this.#atom !== undefined) {
        const part = bytes.subarray(at, at + this.#atom.length - this.#filled);
        this.#atom.set(part, this.#filled);
        this.#filled += part.length;
        at += part.length;
        if (this.#filled === this.#atom.length) this.#endAtom(this.#atom, whole);
        continue;
      }
      this.#take(bytes[at] ?? 0, whole);
      at += 1;
    }
    return whole;
  }

  #take(byte: number, whole: Csexp[]): void {
    if (byte >= zero && byte <= nine) {
      // "01:" would be a second spelling of the same atom.
      if (this.#length === 0) throw wrong("a length begins with 0");
      this.#length = (this.#length ?? 0) * 10 + byte - zero;
      if (this.#length > this.#limits.atomBytes) {
        throw wrong(`an atom is longer than ${this.#limits.atomBytes} bytes`);
      }
    } else if (this.#length !== undefined) {
      if (byte !== colon) throw wrong("a length is not followed by a colon");
      this.#count();
      const atom = new Uint8Array(this.#length);
      this.#length = undefined;
      if (atom.length === 0) this.#endAtom(atom, whole);
      else this.#atom = atom;
    } else if (byte === opening) {
      if (this.#open.length >= this.#limits.depth) {
        throw wrong(`lists are nested deeper than ${this.#limits.depth}`);
      }
      this.#count();
      this.#open.push([]);
    } else if (byte === closing) {
      const list = this.#open.pop();
      if (list === undefined) throw wrong("a list ends without a start");
      this.#add(list, whole);
    } else {
      throw wrong(`byte ${byte} begins neither an atom nor a list`);
    }
  }

  #endAtom(atom: Uint8Array, whole: Csexp[]): void {
    this.#atom = undefined;
    this.#filled = 0;
    this.#add(atom, whole);
  }

  #add(one: Csexp, whole: Csexp[]): void {
    const list = this.#open.at(-1);
    if (list !== undefined) {
      list.push(one);
      return;
    }
    this.#items = 0;
    whole.push(one);
  }

  #count(): void {
    this.#items += 1;
    if (this.#items > this.#limits.items) {
      throw wrong(`an expression has more than ${this.#limits.items} parts`);
    }
  }
}

/** Parses exactly one expression. */
export function parseCsexp(bytes: Uint8Array, limits?: CsexpLimits): Csexp {
  const parser = new CsexpParser(limits);
  const [one, ...more] = parser.push(bytes);
  if (one === undefined || more.length > 0 || !parser.isBetween) {
    throw wrong("there is not exactly one expression");
  }
  return one;
}

/** Texts are written as UTF-8. */
type CsexpText = string | Csexp | readonly CsexpText[];

export function encodeCsexp(one: CsexpText): Buffer {
  const parts: Buffer[] = [];
  const write = (part: CsexpText): void => {
    if (typeof part === "string" || part instanceof Uint8Array) {
      const atom = Buffer.from(part as Uint8Array);
      parts.push(Buffer.from(`${atom.length}:`), atom);
      return;
    }
    parts.push(Buffer.from("("));
    for (const item of part) write(item);
    parts.push(Buffer.from(")"));
  };
  write(one);
  return Buffer.concat(parts);
}

/** Returns an atom's text; undefined for a list, and for bytes that are not text. */
export function textOf(one: Csexp | undefined): string | undefined {
  if (!(one instanceof Uint8Array)) return undefined;
  const text = Buffer.from(one.buffer, one.byteOffset, one.length).toString("utf8");
  return text.includes("\uFFFD") ? undefined : text;
}

/** Returns the elements after a list's first atom, when that is the name. */
export function fieldOf(list: readonly Csexp[], name: string): readonly Csexp[] | undefined {
  for (const one of list) {
    if (!(one instanceof Uint8Array) && textOf(one[0]) === name) return one.slice(1);
  }
  return undefined;
}

export function isList(one: Csexp | undefined): one is readonly Csexp[] {
  return one !== undefined && !(one instanceof Uint8Array);
}

function wrong(why: string): Fault {
  return new Fault("invalid_argument", `this is not a canonical S-expression: ${why}`);
}
