import type { LogIndex } from "#api/log.ts";
import { type IndexSoFar, indexLog } from "./index-log.ts";
import type { ReadLog } from "./whole-lines.ts";

/** The number of logs whose index is held: at most 2,048 entries for a log of 256 MiB. */
const mostIndexes = 200;

/** The indexes of the logs that were read last. A log that has grown is read from where its last count ended. */
export class LogIndexes {
  readonly #known = new Map<string, Promise<IndexSoFar>>();

  /** @param key names the log: the same key for the same log */
  async of(key: string, read: ReadLog): Promise<LogIndex> {
    const before = this.#known.get(key);
    const next = continueIndex(before, read);
    this.#known.delete(key);
    this.#known.set(key, next);
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostIndexes && oldest !== undefined) this.#known.delete(oldest);
    try {
      return (await next).index;
    } catch (reason) {
      if (this.#known.get(key) === next) this.#known.delete(key);
      throw reason;
    }
  }
}

/** Two readers at once share one count: the second waits for the first, and then reads only what is new. */
async function continueIndex(
  before: Promise<IndexSoFar> | undefined,
  read: ReadLog,
): Promise<IndexSoFar> {
  const known = await before?.catch(() => undefined);
  if (known === undefined) return indexLog(read, undefined);
  const now = await read(Math.max(0, known.index.bytes - 1), 1);
  const isSame =
    now.attempt === known.index.attempt && (now.bytes.length > 0 || known.index.bytes === 0);
  // The log of another attempt, or a line in place of a log that was removed.
  if (!isSame) return indexLog(read, undefined);
  return known.index.complete ? known : indexLog(read, known);
}
