/** Returns the number of the pull request whose head or trial merge a ref names, in full; undefined for all others. */
export function pullOfRef(ref: string): number | undefined {
  const number = /^refs\/pull\/(\d{1,9})\/(?:head|merge)$/.exec(ref)?.[1];
  return number === undefined ? undefined : Number(number);
}
