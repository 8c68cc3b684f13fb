import type { LogLines } from "./log-lines.ts";
import { plainText } from "./tokenize-line.ts";

/** The number of lines searched at once: a few milliseconds. */
const slice = 20_000;

/**
 * Finds the lines that contain a text, ignoring case. It continues after its last position when lines were added, and
 * yields regularly so that the page stays responsive.
 */
export class LogSearch {
  readonly matches: number[] = [];
  readonly #needle: string;
  #next = 0;

  constructor(query: string) {
    this.#needle = query.toLowerCase();
  }

  /** Searches one slice; returns `true` when the end is reached. */
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
