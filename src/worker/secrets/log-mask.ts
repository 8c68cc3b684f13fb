import { EscapeReader } from "./escape-reader.ts";
import { FormMatcher } from "./form-matcher.ts";
import { formsOf } from "./secret-forms.ts";

const stars = Buffer.from("***");
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * The maximum number of bytes of escape sequences and line breaks within a form; with more, no reader would recognise
 * it.
 */
const mostBetween = 64 * 1024;

/** Hides values in output. Output in pieces gives the same result as in one piece. */
export interface Mask {
  /** Returns the text that is final; the rest waits for more input. */
  pass(chunk: Uint8Array): Buffer;
  /** Returns the rest of the output, with its secrets hidden. */
  end(): Buffer;
}

/** The forms of the secrets of a run, for any number of its logs. */
export class SecretForms {
  readonly matcher: FormMatcher;

  constructor(values: readonly Uint8Array[]) {
    this.matcher = new FormMatcher(values.flatMap(formsOf));
  }

  mask(): Mask {
    return new LogMask(this.matcher);
  }

  /** Returns a whole text with its secrets hidden. */
  hide(text: string): string {
    const mask = this.mask();
    return Buffer.concat([mask.pass(Buffer.from(text)), mask.end()]).toString();
  }
}

/** Tracks where a form may have started, in one reading of the bytes. */
class Reading {
  state = 0;
  readonly #matcher: FormMatcher;
  /** The positions of the latest bytes of this reading in the log: as many as the longest form has. */
  readonly #places: Float64Array;
  #count = 0;

  constructor(matcher: FormMatcher) {
    this.#matcher = matcher;
    this.#places = new Float64Array(matcher.longest + 1);
  }

  /** Returns the start of the longest form that ends with this byte; -1 when none ends here. */
  read(byte: number, place: number): number {
    this.state = this.#matcher.step(this.state, byte);
    if (this.state === 0) {
      this.#count = 0;
      return -1;
    }
    this.#places[this.#count++ % this.#places.length] = place;
    const length = this.#matcher.ending[this.state] ?? 0;
    return length === 0 ? -1 : this.#placeOf(length);
  }

  /** Returns the position from which the input may still become part of a form. */
  openFrom(otherwise: number): number {
    return this.state === 0 ? otherwise : this.#placeOf(this.#matcher.depth[this.state] ?? 0);
  }

  #placeOf(back: number): number {
    return this.#places[(this.#count - back) % this.#places.length] ?? 0;
  }
}

/**
 * Reads the same bytes in three ways: all of them, those that a terminal shows, and those without colours. So a form is
 * found with colours inside it, and in titles and links, also when a sequence never ends. Line breaks are ignored,
 * because base64 is wrapped, and keys have several lines.
 */
class LogMask implements Mask {
  readonly #all: Reading;
  readonly #shown: Reading;
  readonly #plain: Reading;
  readonly #escapes = new EscapeReader();
  /** Input that was not passed on yet, and its position in the log. */
  #held: Buffer = Buffer.alloc(0);
  #begin = 0;
  /** The separate ranges to hide, in order: [from, to). */
  #hidden: { from: number; to: number }[] = [];
  #isHiding = false;
  readonly #longest: number;

  constructor(matcher: FormMatcher) {
    this.#longest = matcher.longest;
    this.#all = new Reading(matcher);
    this.#shown = new Reading(matcher);
    this.#plain = new Reading(matcher);
  }

  pass(chunk: Uint8Array): Buffer {
    const from = this.#begin + this.#held.byteLength;
    this.#held = Buffer.concat([this.#held, chunk]);
    for (let i = 0; i < chunk.byteLength; i++) this.#read(chunk[i] ?? 0, from + i);
    const end = from + chunk.byteLength;
    return this.#release(this.#sureUpTo(end));
  }

  end(): Buffer {
    return this.#release(this.#begin + this.#held.byteLength);
  }

  #read(byte: number, place: number): void {
    const seen = this.#escapes.read(byte);
    if (byte === lineFeed || byte === carriageReturn) return;
    this.#hideFrom(this.#all.read(byte, place), place);
    if (seen === "text") this.#hideFrom(this.#shown.read(byte, place), place);
    if (seen !== "sequence") this.#hideFrom(this.#plain.read(byte, place), place);
  }

  /** Ends arrive in order, so a new range can only touch the latest one. */
  #hideFrom(begin: number, last: number): void {
    if (begin < 0) return;
    const to = last + 1;
    let from = begin;
    for (
      let before = this.#hidden.at(-1);
      before && before.to >= from;
      before = this.#hidden.at(-1)
    ) {
      from = Math.min(from, before.from);
      this.#hidden.pop();
    }
    this.#hidden.push({ from, to });
  }

  #sureUpTo(end: number): number {
    const readings = [this.#all, this.#shown, this.#plain];
    const sure = Math.min(...readings.map((reading) => reading.openFrom(end)));
    const held = end - sure;
    if (held <= mostBetween + this.#longest) return sure;
    // Reset: parts that are so far apart do not belong to one form.
    for (const reading of readings) reading.state = 0;
    return end;
  }

  #release(upTo: number): Buffer {
    const out: Buffer[] = [];
    let at = this.#begin;
    let nth = 0;
    const bytes = (from: number, to: number) =>
      this.#held.subarray(from - this.#begin, to - this.#begin);
    while (at < upTo) {
      const next = this.#hidden[nth];
      const shownTo = Math.min(upTo, next?.from ?? upTo);
      if (at < shownTo) {
        out.push(bytes(at, shownTo));
        this.#isHiding = false;
        at = shownTo;
        continue;
      }
      if (next === undefined) break;
      const hiddenTo = Math.min(upTo, next.to);
      if (!this.#isHiding) out.push(stars);
      this.#isHiding = true;
      // Line breaks are kept, so that line numbers in the log stay correct.
      out.push(Buffer.from(bytes(at, hiddenTo).filter((byte) => byte === lineFeed)));
      at = hiddenTo;
      if (next.to <= upTo) nth++;
      else next.from = upTo;
    }
    this.#hidden.splice(0, nth);
    this.#held = Buffer.from(this.#held.subarray(upTo - this.#begin));
    this.#begin = upTo;
    return Buffer.concat(out);
  }
}
