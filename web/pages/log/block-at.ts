/** Returns the index of the block that contains a line, from 0. */
export function blockAt(blocks: readonly (readonly [number, number])[], line: number): number {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((blocks[middle]?.[0] ?? 0) <= line) low = middle;
    else high = middle - 1;
  }
  return low;
}
