import type { TransferLine } from "#commit-index/order-transfer.ts";

/** The measurements on which a plan is based. */
export interface PlanBasis {
  readonly line: TransferLine;
  /** The build's speed relative to the index (`demandScale`): lower means that it requests faster. */
  readonly demandScale: number;
}

/** The measurements since then. */
interface SincePlan {
  readonly line: TransferLine;
  /** Undefined while there were too few requests. */
  readonly demandScale: number | undefined;
  readonly waiting: number;
  /** The number of results that the build requested before they were prefetched. */
  readonly overtaken: number;
}

/** The factor by which connection or build must differ from the plan before a new plan is made. */
const otherwise = 2;
/** With this share of a plan overtaken, the plan is too late and is made again from the build's position. */
const overtakenShare = 0.1;
const fewOvertaken = 16;

export function isPlanOld(basis: PlanBasis, now: SincePlan): boolean {
  const ratio = now.line.bytesPerSecond / basis.line.bytesPerSecond;
  if (ratio > otherwise || ratio < 1 / otherwise) return true;
  // Only for faster builds: for a slower one everything is in time.
  const { demandScale = basis.demandScale } = now;
  if (demandScale * otherwise < basis.demandScale) return true;
  return now.overtaken > Math.max(fewOvertaken, now.waiting * overtakenShare);
}
