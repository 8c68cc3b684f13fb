/** A piece of a log: its start in bytes, and its text. */
export interface Chunk {
  readonly offset: number;
  readonly text: string;
}

/**
 * Returns the part of a chunk that is new after the last known chunk.
 *
 * After a lost connection, the stream resumes at the *beginning* of the last chunk, the only position in bytes that is
 * certainly known: a chunk's length in bytes cannot be computed from its text, in which invalid UTF-8 was replaced. So
 * the last chunk arrives again, perhaps longer than before; earlier chunks are already known.
 */
export function freshText(last: Chunk | undefined, heard: Chunk): string {
  if (last === undefined || heard.offset > last.offset) return heard.text;
  if (heard.offset < last.offset) return "";
  return heard.text.startsWith(last.text) ? heard.text.slice(last.text.length) : "";
}

/** Returns the last chunk, for the next call. */
export function lastChunk(last: Chunk | undefined, heard: Chunk): Chunk {
  if (last === undefined || heard.offset > last.offset) return heard;
  return heard.offset === last.offset && heard.text.length > last.text.length ? heard : last;
}
