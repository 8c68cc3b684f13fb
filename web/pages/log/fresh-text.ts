/** A piece of a log: where it begins, in bytes, and what it says. */
export interface Chunk {
  readonly offset: number;
  readonly text: string;
}

/**
 * What a chunk adds to a log whose last chunk is known.
 *
 * A stream that was cut resumes at the *beginning* of the last chunk, the one
 * place in bytes that is known for certain: a chunk's length in bytes cannot be
 * told from its text, where invalid UTF-8 was replaced. So the last chunk comes
 * again, perhaps longer than before; chunks from before it have been heard.
 */
export function freshText(last: Chunk | undefined, heard: Chunk): string {
  if (last === undefined || heard.offset > last.offset) return heard.text;
  if (heard.offset < last.offset) return "";
  return heard.text.startsWith(last.text) ? heard.text.slice(last.text.length) : "";
}

/** The last chunk, for the next time. */
export function lastChunk(last: Chunk | undefined, heard: Chunk): Chunk {
  if (last === undefined || heard.offset > last.offset) return heard;
  return heard.offset === last.offset && heard.text.length > last.text.length ? heard : last;
}
