/** How often each of what is timed by turns is timed: GRANGE_SHOW_ROUNDS times where that is set, to look at a row quickly or long. */
export function roundsOr(usual: number): number {
  const wished = Number(process.env["GRANGE_SHOW_ROUNDS"] ?? usual);
  if (!Number.isSafeInteger(wished) || wished < 1)
    throw new Error("GRANGE_SHOW_ROUNDS is to be a number from 1 on");
  return wished;
}
