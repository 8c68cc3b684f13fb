/**
 * Returns the number of rounds of alternating measurements: GRANGE_SHOW_ROUNDS if it is set, for a quick or a thorough
 * run.
 */
export function roundsOr(usual: number): number {
  const wished = Number(process.env["GRANGE_SHOW_ROUNDS"] ?? usual);
  if (!Number.isSafeInteger(wished) || wished < 1)
    throw new Error("GRANGE_SHOW_ROUNDS is to be a number from 1 on");
  return wished;
}
