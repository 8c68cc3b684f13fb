import { readFlow } from "./plain-yaml-flow.ts";
import { NotPlain, type ReadPart, readKey, readScalarLine } from "./plain-yaml-scalar.ts";

/** Deeper texts are left to the full parser, which reports whether they are too deep. */
const maxDepth = 24;

/** Everything but printable text of one plane: tabs, carriage returns, marks of byte order, surrogates. */
const strange = /[^\n\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufdcf\ufdf0-\ufefe\uff00-\ufffd]/;

/**
 * Reads the YAML that most definitions use, twenty times as fast as the whole language.
 *
 * Block maps and lists, texts and flow collections of one line, literal texts. Returns undefined for everything else:
 * anchors, tags, folded texts, texts over several lines, duplicate keys, errors. The `yaml` package gives the same
 * values; the place of each part is needed only for a problem, and then the package reads the file again. Only the
 * starts of the entries of `jobs` are returned: `offsets`.
 */
export function readPlainYaml(
  text: string,
): { readonly value: unknown; readonly offsets: ReadonlyMap<string, number> } | undefined {
  if (strange.test(text)) return undefined;
  // The end of a literal text depends on the final newline.
  if (!text.endsWith("\n") && literal.test(text)) return undefined;
  try {
    const reader = new PlainReader(withLastNewline(text));
    return { value: reader.all(), offsets: reader.jobOffsets };
  } catch (reason) {
    if (reason instanceof NotPlain) return undefined;
    throw reason;
  }
}

/** Returns the line, counted from 1, of the first part that `readPlainYaml` does not read. */
export function lineBeyondPlain(text: string): number {
  const reader = new PlainReader(withLastNewline(text));
  try {
    reader.all();
  } catch (reason) {
    if (!(reason instanceof NotPlain)) throw reason;
    return reader.line;
  }
  return text.slice(0, Math.max(0, text.search(strange))).split("\n").length;
}

/** A line that begins a literal or a folded text. */
const literal = /[|>][-+0-9]*$/m;

function withLastNewline(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

class PlainReader {
  readonly #text: string;
  readonly jobOffsets = new Map<string, number>();
  /** The top-level key that is being read. */
  #top = "";
  /** Jobs that are written in brackets, by their text. */
  readonly #flowJobs = new Map<string, ReadPart<unknown>>();
  /** The current line: the positions of its end and of its content, and the column of its content. The end is -1 after the last line. */
  #end = -1;
  #at = 0;
  #column = 0;

  constructor(text: string) {
    this.#text = text;
    this.#nextLine();
  }

  /** The present line, counted from 1. */
  get line(): number {
    return this.#text.slice(0, this.#at).split("\n").length;
  }

  all(): unknown {
    if (this.#column === 0 && this.#text.slice(this.#at, this.#end) === "---") this.#nextLine();
    if (this.#column !== 0) throw new NotPlain();
    const value = this.#map(0, 0);
    if (!this.#isOver()) throw new NotPlain();
    return value;
  }

  /** Moves to the next line with content besides blanks and a comment. */
  #nextLine(): void {
    for (;;) {
      const start = this.#end + 1;
      if (start >= this.#text.length) {
        this.#column = -1;
        return;
      }
      this.#end = this.#text.indexOf("\n", start);
      this.#at = start;
      while (this.#text.charCodeAt(this.#at) === space) this.#at += 1;
      const sign = this.#text.charCodeAt(this.#at);
      if (sign === newline || sign === hash) continue;
      this.#column = this.#at - start;
      return;
    }
  }

  #block(depth: number): unknown {
    return this.#isItem() ? this.#list(this.#column, depth) : this.#map(this.#column, depth);
  }

  #map(column: number, depth: number): unknown {
    if (depth > maxDepth) throw new NotPlain();
    const map: Record<string, unknown> = {};
    while (this.#column === column) {
      const { key, end } = readKey(this.#text, this.#at, this.#end);
      if (Object.hasOwn(map, key)) throw new NotPlain();
      if (depth === 0) this.#top = key;
      if (depth === 1 && this.#top === "jobs") this.jobOffsets.set(key, this.#at);
      this.#at = end;
      map[key] = this.#value(column, depth, true);
    }
    return map;
  }

  #list(column: number, depth: number): unknown {
    if (depth > maxDepth) throw new NotPlain();
    const list: unknown[] = [];
    while (this.#column === column && this.#isItem()) {
      const lineStart = this.#at - column;
      this.#at += 1;
      this.#skipSpaces();
      const inner = this.#at - lineStart;
      if (this.#startsKey()) {
        this.#column = inner;
        list.push(this.#map(inner, depth + 1));
        if (this.#column > column) throw new NotPlain();
      } else {
        list.push(this.#value(column, depth, false));
      }
    }
    return list;
  }

  /** Reads the value after a key or a dash in `column`; continues at the next line. */
  #value(column: number, depth: number, ofKey: boolean): unknown {
    this.#skipSpaces();
    const sign = this.#text.charCodeAt(this.#at);
    let value: unknown;
    if (this.#isRestEmpty(this.#at)) {
      this.#nextLine();
      if (this.#column > column) value = this.#block(depth + 1);
      // A list may have the same indentation as its key.
      else if (ofKey && this.#column === column && this.#isItem())
        value = this.#list(column, depth + 1);
      else value = null;
    } else if (sign === pipe) {
      value = this.#literal(column);
    } else if (sign === bracket || sign === brace) {
      const flow = depth === 1 && this.#top === "jobs" ? this.#flowJob() : this.#flow(depth);
      if (!this.#isRestEmpty(flow.end)) throw new NotPlain();
      value = flow.value;
      this.#nextLine();
    } else {
      value = readScalarLine(this.#text, this.#at, this.#end);
      this.#nextLine();
    }
    // A text that continues in the next line, or text in an illegal place.
    if (this.#column > column) throw new NotPlain();
    return value;
  }

  #flow(depth: number): ReadPart<unknown> {
    return readFlow(this.#text, this.#at, this.#end, depth + 1);
  }

  /**
   * Jobs with equal texts get one value. A matrix has thousands of jobs that only their names tell apart; each is then
   * read, hashed and checked once.
   */
  #flowJob(): ReadPart<unknown> {
    const text = this.#text.slice(this.#at, this.#end);
    const known = this.#flowJobs.get(text);
    if (known !== undefined) return { value: known.value, end: this.#at + known.end };
    const read = this.#flow(1);
    this.#flowJobs.set(text, { value: read.value, end: read.end - this.#at });
    return read;
  }

  /** The lines under `|` or `|-`, without the blanks that all of them begin with. */
  #literal(column: number): string {
    const header = this.#text.slice(this.#at, this.#end).trimEnd();
    if (header !== "|" && header !== "|-") throw new NotPlain();
    const lines: string[] = [];
    let indent = -1;
    let start = this.#end + 1;
    while (start < this.#text.length) {
      const end = this.#text.indexOf("\n", start);
      let at = start;
      while (this.#text.charCodeAt(at) === space) at += 1;
      if (at === end) {
        if (indent === -1 || at - start > indent) throw new NotPlain();
        lines.push("");
      } else {
        if (indent === -1) indent = at - start;
        if (indent <= column) throw new NotPlain();
        if (at - start < indent) break;
        lines.push(this.#text.slice(start + indent, end));
      }
      this.#end = end;
      start = end + 1;
    }
    if (lines.length === 0) throw new NotPlain();
    this.#nextLine();
    while (lines.at(-1) === "") lines.pop();
    return lines.join("\n") + (header === "|" ? "\n" : "");
  }

  #isOver(): boolean {
    return this.#column === -1;
  }

  #skipSpaces(): void {
    while (this.#text.charCodeAt(this.#at) === space) this.#at += 1;
  }

  #isItem(): boolean {
    if (this.#text.charCodeAt(this.#at) !== dash) return false;
    const next = this.#text.charCodeAt(this.#at + 1);
    return next === space || next === newline;
  }

  #startsKey(): boolean {
    return /[A-Za-z0-9_$./]/.test(this.#text.charAt(this.#at)) && keyAhead(this.#text, this.#at);
  }

  /** Returns whether only blanks and a comment follow in the line. */
  #isRestEmpty(from: number): boolean {
    let at = from;
    while (this.#text.charCodeAt(at) === space) at += 1;
    if (at === this.#end) return true;
    return this.#text.charCodeAt(at) === hash && this.#text.charCodeAt(at - 1) === space;
  }
}

const keyWithColon = /[^\s:]+:(?=[ \n])/y;

function keyAhead(text: string, at: number): boolean {
  keyWithColon.lastIndex = at;
  return keyWithColon.test(text);
}

const space = 0x20;
const newline = 0x0a;
const hash = 0x23;
const dash = 0x2d;
const pipe = 0x7c;
const bracket = 0x5b;
const brace = 0x7b;
