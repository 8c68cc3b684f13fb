import { createHash } from "node:crypto";

/** Orders are drawn so that in each ten pairs, five begin with each side. */
const block = 10;

/**
 * Returns whether the parent's process is the first of a pair, numbered from 1.
 *
 * Of each ten pairs, five random ones begin with the parent, so that no rhythm of the machine coincides with child and
 * parent. The same seed gives the same order, so an interrupted run continues in it.
 */
export function isParentFirst(seed: string | number, pair: number): boolean {
  const nth = (pair - 1) % block;
  const lots = createHash("sha256")
    .update(`${seed}\n${(pair - 1 - nth) / block}`)
    .digest();
  const lotOf = (i: number) => lots.readUInt16BE(2 * i) * block + i;
  const own = lotOf(nth);
  let before = 0;
  for (let i = 0; i < block; i++) if (lotOf(i) < own) before++;
  return before < block / 2;
}
