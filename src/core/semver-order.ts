export interface SemVer {
  readonly text: string;
  readonly core: readonly [number, number, number];
  /** The part after the hyphen, split at dots; empty for a release. */
  readonly prerelease: readonly string[];
}

const pattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

export function parseSemVer(text: string): SemVer | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease] = match;
  return {
    text,
    core: [Number(major), Number(minor), Number(patch)],
    prerelease: prerelease === undefined ? [] : prerelease.split("."),
  };
}

/** Compares by the precedence of https://semver.org/#spec-item-11; negative when `a` comes first. */
export function compareSemVer(a: SemVer, b: SemVer): number {
  for (const index of [0, 1, 2] as const) {
    if (a.core[index] !== b.core[index]) return a.core[index] - b.core[index];
  }
  // A release comes after its prereleases.
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return b.prerelease.length - a.prerelease.length;
  }
  for (let index = 0; ; index++) {
    const [left, right] = [a.prerelease[index], b.prerelease[index]];
    if (left === undefined || right === undefined) return a.prerelease.length - b.prerelease.length;
    const order = compareIdentifiers(left, right);
    if (order !== 0) return order;
  }
}

/** Numbers by value and before words; words by their ASCII codes. */
function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber && bIsNumber) return Number(a) - Number(b);
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
