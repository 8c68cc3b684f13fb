/** Numbers from 0 to 1, the same for the same seed. */
type Draws = () => number;

/** Longer inputs are cut: parsers have their own tests of large inputs. */
export const mostBytes = 4_096;

/** Returns a changed copy of an input. `words` are pieces that have a meaning in its format. */
export function mutate(
  input: Uint8Array,
  others: readonly Uint8Array[],
  words: readonly Uint8Array[],
  draws: Draws,
): Uint8Array {
  let bytes = input;
  const changes = 1 + Math.floor(draws() ** 2 * 6);
  for (let n = 0; n < changes; n++) bytes = changeOnce(bytes, others, words, draws);
  return bytes.subarray(0, mostBytes);
}

function changeOnce(
  bytes: Uint8Array,
  others: readonly Uint8Array[],
  words: readonly Uint8Array[],
  draws: Draws,
): Uint8Array {
  const upTo = (limit: number) => Math.floor(draws() * limit);
  const at = upTo(bytes.length + 1);
  const length = Math.min(bytes.length - at, 1 + upTo(16));
  const splice = (removed: number, inserted: Uint8Array) =>
    Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
  const change = upTo(9);
  switch (change) {
    case 0: {
      if (bytes.length === 0) return Uint8Array.of(upTo(256));
      const flipped = Uint8Array.from(bytes);
      const place = upTo(bytes.length);
      flipped[place] = (flipped[place] ?? 0) ^ (1 << upTo(8));
      return flipped;
    }
    case 1:
      return splice(Math.min(1, length), Uint8Array.of(upTo(256)));
    case 2:
      return splice(length, new Uint8Array());
    case 3:
      return splice(0, bytes.subarray(at, at + length));
    case 4:
      return splice(0, oneOf(words, draws));
    case 5:
      return splice(length, oneOf(words, draws));
    case 6: {
      const other = oneOf(others, draws);
      const from = upTo(other.length + 1);
      return splice(length, other.subarray(from, from + 1 + upTo(64)));
    }
    case 7: {
      // A piece many times, for parsers that recurse or search again and again.
      const piece = draws() < 0.5 ? bytes.subarray(at, at + length) : oneOf(words, draws);
      const times = 1 + upTo(Math.min(400, mostBytes / Math.max(1, piece.length)));
      return splice(0, Buffer.concat(Array.from({ length: times }, () => piece)));
    }
    default:
      return bytes.subarray(0, at);
  }
}

function oneOf(pieces: readonly Uint8Array[], draws: Draws): Uint8Array {
  return pieces[Math.floor(draws() * pieces.length)] ?? new Uint8Array();
}
