import type { ExecutionSizeClass } from "#api/size-class.ts";
import type { Tx } from "#db/db.ts";
import type { ExecutionId } from "#execution/execution.ts";
import { decisionsOf } from "#execution/sizing/size-decision.store.ts";
import { sizedRuns, sizeStanding } from "#execution/sizing/sized-runs.store.ts";
import { standingWords } from "./decision-words.ts";
import { decisionsForPage } from "./decisions-for-page.ts";

/** Returns why an execution runs on its size class. Undefined when there is no such execution. */
export async function explainExecution(
  tx: Tx,
  id: ExecutionId,
): Promise<ExecutionSizeClass | undefined> {
  const standing = await sizeStanding(tx, id);
  if (standing === undefined) return undefined;
  const decidedOf = standing.hedgeOf ?? id;
  const kept = await decisionsOf(tx, decidedOf);
  const decisions = decisionsForPage(
    decidedOf,
    standing.title,
    kept,
    kept.length === 0 ? [] : await sizedRuns(tx, [decidedOf]),
  );
  return {
    executionId: id,
    secondRunOf: standing.hedgeOf,
    state: standing.state,
    sizeClass: standing.sizeClass,
    leastSizeClass: standing.least,
    mostSizeClass: standing.most,
    sentence: standingWords(standing, decisions),
    decisions,
  };
}
