/** The lines of a log of which the middle is not stored, counted as newlines. */
export interface StoredParts {
  /** Newlines in the stored beginning, which may end within a line. */
  readonly inHead: number;
  /** Newlines in all output. */
  readonly inAll: number;
  /** Newlines in the stored end. */
  readonly inTail: number;
  /** Whether output between both is not stored: a second note says so. */
  readonly hasGap: boolean;
}

/** The first note ends the last line of the beginning, and is a line itself. */
const linesOfNotes = { first: 2, second: 2 };

/** Returns the number, from 1, under which the log stores a line of the output; for one that is left out, the note's. */
export function storedLine(line: number, { inHead, inAll, inTail, hasGap }: StoredParts): number {
  if (line <= inHead) return line;
  if (!hasGap) return line + linesOfNotes.first;
  const firstOfTail = inAll - inTail + 1;
  const note = inHead + linesOfNotes.first + linesOfNotes.second;
  return line < firstOfTail ? note : note + 1 + line - firstOfTail;
}

/** Returns what is left out, in words: `lines 5 to 9 of the output`. */
export function leftOutLines({ inHead, inAll, inTail }: StoredParts): string {
  const [first, last] = [inHead + 1, inAll - inTail];
  return last > first
    ? `lines ${first} to ${last} of the output`
    : `of line ${first} of the output`;
}

export function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}
