interface FittedChunk {
  /** The bytes to store and their offset. Absent when all are stored already or the log is full. */
  readonly store: { readonly offset: number; readonly bytes: Uint8Array } | undefined;
  /** The offset at which the worker continues. */
  readonly nextOffset: number;
  /** False when there is a gap before the chunk. */
  readonly accepted: boolean;
}

/**
 * Returns the part of a chunk of a log that is not stored yet.
 *
 * A worker that got no answer sends the chunk again, perhaps with more at the end: the stored part is skipped. Above
 * the limit, the log ends with a note, and later chunks are accepted and dropped, so that a job with endless output can
 * still end.
 */
export function fitLogChunk(chunk: {
  /** The number of stored bytes; above `limit` when the note is included. */
  readonly stored: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly limit: number;
}): FittedChunk {
  const { stored, offset, bytes, limit } = chunk;
  const end = offset + bytes.length;
  if (stored > limit) return { store: undefined, nextOffset: Math.max(end, limit), accepted: true };
  // No offset is before the beginning of a log: such a call does not belong to this log.
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
