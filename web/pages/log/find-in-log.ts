import type { LogLines } from "./log-lines.ts";
import { plainText } from "./tokenize-line.ts";

/** Lines looked at in one go: a few milliseconds. */
const slice = 20_000;

/**
 * Which lines contain a text, whatever its case. Goes on where it stopped when
 * lines were added, and yields now and then so that the page stays alive.
 */
export class LogSearch {
  readonly matches: number[] = [];
  readonly #needle: string;
  #next = 0;

  constructor(query: string) {
    this.#needle = query.toLowerCase();
  }

  /** Looks at one slice; `true` when nothing is left to look at. */
  advance(lines: LogLines): boolean {
    const end = Math.min(lines.count, this.#next + slice);
    for (; this.#next < end; this.#next++) {
      const raw = lines.at(this.#next)?.raw ?? "";
      const text = raw.includes("\u001b") ? plainText(raw) : raw;
      if (text.toLowerCase().includes(this.#needle)) this.matches.push(this.#next);
    }
    return this.#next >= lines.count;
  }
}
