import type { LogIndex, LogMatches } from "#api/log.ts";
import { Fault } from "#core/fault.ts";
import { LogIndexes } from "./log-indexes.ts";
import { searchLog } from "./search-log.ts";
import type { ReadLog } from "./whole-lines.ts";

/** The query of a search, parsed. */
interface SearchQuery {
  readonly text?: string | undefined;
  readonly errors?: "true" | undefined;
  readonly from: number;
  readonly most: number;
}

/** Answers for readers who look at a part of a log: where its lines are, and which of them match. */
export class LogPages {
  readonly #indexes = new LogIndexes();

  /** @param key names the log: the same key for the same log */
  index(key: string, read: ReadLog): Promise<LogIndex> {
    return this.#indexes.of(key, read);
  }

  /** Throws `invalid_argument` unless either `text` or `errors` is given. */
  async search(
    key: string,
    read: ReadLog,
    { text, errors, from, most }: SearchQuery,
    signal: AbortSignal,
  ): Promise<LogMatches> {
    if ((text === undefined) === (errors === undefined))
      throw new Fault("invalid_argument", "give either `text` or `errors=true`");
    const start = from === 1 ? [0, 0] : blockBefore(await this.index(key, read), from - 1);
    return searchLog(read, start as [number, number], { text, from, most, signal });
  }
}

/** Returns the last block that begins at or before a line, from 0. */
function blockBefore({ blocks }: LogIndex, line: number): readonly [number, number] {
  return blocks.findLast(([before]) => before <= line) ?? [0, 0];
}
