import { fseTable } from "./fse-table.ts";

function steps(bits: readonly number[], first: number): Int32Array {
  let base = first;
  return Int32Array.from(bits, (width) => {
    const now = base;
    base += 2 ** width;
    return now;
  });
}
const run = (length: number, value: number): number[] => Array.from({ length }, () => value);

/** The number of extra bits after each length code (RFC 8878, 3.1.1.3.2.1), and the value that is added to them. */
const lengthBits = [
  ...run(16, 0),
  1,
  1,
  1,
  1,
  2,
  2,
  3,
  3,
  4,
  6,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  15,
  16,
];
export const literalBits = Uint8Array.from(lengthBits);
export const literalBase = steps(lengthBits, 0);
const matchBitList = [
  ...run(32, 0),
  1,
  1,
  1,
  1,
  2,
  2,
  3,
  3,
  4,
  4,
  5,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  15,
  16,
];
export const matchBits = Uint8Array.from(matchBitList);
export const matchBase = steps(matchBitList, 3);

/** The default tables (RFC 8878, 3.1.1.3.2.2). */
export const defaultLiteralLengths = fseTable(
  [4, 3, ...run(6, 2), ...run(5, 2), 1, 1, 1, ...run(9, 2), 3, 2, 1, 1, 1, 1, 1, ...run(4, -1)],
  6,
);
export const defaultMatchLengths = fseTable(
  [1, 4, 3, 2, 2, 2, 2, 2, 2, ...run(37, 1), ...run(7, -1)],
  6,
);
export const defaultOffsets = fseTable(
  [1, 1, 1, 1, 1, 1, 2, 2, 2, ...run(15, 1), ...run(5, -1)],
  5,
);
