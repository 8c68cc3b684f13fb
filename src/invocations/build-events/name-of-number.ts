/** Returns the name of a protobuf enum's number; undefined for one that is newer than Grange's definitions. */
export function nameOfNumber(
  names: Readonly<Record<string, number>>,
  number: number,
): string | undefined {
  return Object.keys(names).find((name) => names[name] === number);
}
