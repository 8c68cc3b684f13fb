interface JudgedSequence {
  /** The number of events, from the first on, that may be acknowledged. */
  readonly answered: number;
  /** The indexes of the new events, in order. The others were stored before. */
  readonly fresh: readonly number[];
  /** All events up to this number are stored then. */
  readonly acknowledged: number;
}

/**
 * Divides received events into new ones, already stored ones, and those that arrived too early.
 *
 * A tool that lost its connection sends unacknowledged events again, possibly to another server. Events after a gap are
 * not stored: the missing ones may be on their way in another stream.
 */
export function judgeSequence(acknowledged: number, numbers: readonly number[]): JudgedSequence {
  const fresh: number[] = [];
  let upTo = acknowledged;
  for (const [index, number] of numbers.entries()) {
    if (number > upTo + 1) return { answered: index, fresh, acknowledged: upTo };
    if (number === upTo + 1) {
      fresh.push(index);
      upTo = number;
    }
  }
  return { answered: numbers.length, fresh, acknowledged: upTo };
}
