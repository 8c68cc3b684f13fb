import type { TransferLine } from "#commit-index/order-transfer.ts";

/** What a plan was made with. */
export interface PlanBasis {
  readonly line: TransferLine;
  /** As `demandScale` of the index: the lower, the faster the build asks. */
  readonly demandScale: number;
}

/** What has been seen since. */
export interface SincePlan {
  readonly line: TransferLine;
  /** Undefined while too little was asked for to tell. */
  readonly demandScale: number | undefined;
  readonly waiting: number;
  /** Asked for before their turn. */
  readonly overtaken: number;
}

/** A line, or a build, measured so much faster or slower than planned with makes another order right. */
const otherwise = 2;
/** So many of a plan asked for before their turn, and the plan is too late: it is made again from where the build is. */
const overtakenShare = 0.1;
const fewOvertaken = 16;

export function isPlanOld(basis: PlanBasis, now: SincePlan): boolean {
  const ratio = now.line.bytesPerSecond / basis.line.bytesPerSecond;
  if (ratio > otherwise || ratio < 1 / otherwise) return true;
  // Only a build that is faster: to one that is slower, all comes in time anyway.
  const { demandScale = basis.demandScale } = now;
  if (demandScale * otherwise < basis.demandScale) return true;
  return now.overtaken > Math.max(fewOvertaken, now.waiting * overtakenShare);
}
