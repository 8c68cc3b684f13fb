interface JudgedSequence {
  /** How many of the events, from the first on, may be answered. */
  readonly answered: number;
  /** Which of them are new: indexes, in order. The others came before. */
  readonly fresh: readonly number[];
  /** All events up to this number are then kept. */
  readonly acknowledged: number;
}

/**
 * Sorts received events into new ones, already stored ones, and those that came too early.
 *
 * A tool that was cut off sends unacknowledged events again, possibly to another server. Events after a gap are not
 * stored: the missing ones may be on their way in another stream.
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
