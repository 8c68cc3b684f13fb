interface FittedChunk {
  /** What to store, and where. Absent when all of it is there already or nothing more is kept. */
  readonly store: { readonly offset: number; readonly bytes: Uint8Array } | undefined;
  /** Where the worker goes on. */
  readonly nextOffset: number;
  /** False when there is a gap before the chunk. */
  readonly accepted: boolean;
}

/**
 * Cuts a chunk of a log to what is still missing of it.
 *
 * A worker that got no answer sends again, perhaps with more at the end: what is there
 * is skipped. Past the limit the log ends with a note, and what follows is taken and
 * dropped, so that a job which prints without end still ends.
 */
export function fitLogChunk(chunk: {
  /** How many bytes are stored; beyond `limit` when the note is among them. */
  readonly stored: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly limit: number;
}): FittedChunk {
  const { stored, offset, bytes, limit } = chunk;
  const end = offset + bytes.length;
  if (stored > limit) return { store: undefined, nextOffset: Math.max(end, limit), accepted: true };
  // Nothing is before a log's beginning: who says so knows of no log.
  if (offset > stored || offset < 0)
    return { store: undefined, nextOffset: stored, accepted: false };
  if (end <= stored) return { store: undefined, nextOffset: stored, accepted: true };
  const fresh = bytes.subarray(stored - offset);
  const room = limit - stored;
  const kept = fresh.length <= room ? fresh : withNote(fresh.subarray(0, room), limit);
  return { store: { offset: stored, bytes: kept }, nextOffset: end, accepted: true };
}

function withNote(bytes: Uint8Array, limit: number): Uint8Array {
  const note = new TextEncoder().encode(
    `\n[the log is cut here: it is longer than ${limit} bytes]\n`,
  );
  const all = new Uint8Array(bytes.length + note.length);
  all.set(bytes);
  all.set(note, bytes.length);
  return all;
}
