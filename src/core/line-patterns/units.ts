/** Sets of UTF-16 units, as ranges with both ends in them. */
export type Units = readonly (readonly [first: number, last: number])[];

export const lastUnit = 0xffff;

export const digitUnits: Units = [[0x30, 0x39]];
export const wordUnits: Units = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** White space as JavaScript counts it. */
export const spaceUnits: Units = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

export function oneUnit(unit: number): Units {
  return [[unit, unit]];
}

export function isAmong(units: Units, unit: number): boolean {
  return units.some(([first, last]) => first <= unit && unit <= last);
}

export function everyUnitBut(units: Units): Units {
  const rest: [number, number][] = [];
  let free = 0;
  for (const [first, last] of [...units].toSorted(([a], [b]) => a - b)) {
    if (first > free) rest.push([free, first - 1]);
    free = Math.max(free, last + 1);
  }
  if (free <= lastUnit) rest.push([free, lastUnit]);
  return rest;
}

/** The units in both cases: all of A to Z, and a single letter of any alphabet. */
export function inBothCases(units: Units): Units {
  const more: [number, number][] = [];
  for (const [first, last] of units) {
    const upper = [Math.max(first, 0x41), Math.min(last, 0x5a)] as const;
    const lower = [Math.max(first, 0x61), Math.min(last, 0x7a)] as const;
    if (upper[0] <= upper[1]) more.push([upper[0] + 0x20, upper[1] + 0x20]);
    if (lower[0] <= lower[1]) more.push([lower[0] - 0x20, lower[1] - 0x20]);
    if (first === last && first > 0x7f) {
      const letter = String.fromCharCode(first);
      for (const other of [letter.toLowerCase(), letter.toUpperCase()])
        if (other.length === 1) more.push([other.charCodeAt(0), other.charCodeAt(0)]);
    }
  }
  return [...units, ...more];
}
