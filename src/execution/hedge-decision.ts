import { z } from "zod";
import type { Tx } from "#db/db.ts";
import type { BegunHedge } from "./hedge.store.ts";
import { readExecutions } from "./read-executions.store.ts";
import { decisionsOf, type NewDecision } from "./size-decision.store.ts";

function ofNone(reason: unknown): [] {
  if (reason instanceof z.ZodError) return [];
  throw reason;
}

/** That a second run began, in the words of the choice that allowed for it. */
export async function hedgeDecisionOf(
  tx: Tx,
  { original }: Pick<BegunHedge, "original">,
  sizeClass: number,
  now: Date,
): Promise<NewDecision | undefined> {
  // What an older version kept may not be what this one reads: the second run is the same without.
  const latest = (await decisionsOf(tx, original).catch(ofNone)).at(-1);
  const [view] = await readExecutions(tx, [original]);
  if (latest === undefined || view === undefined) return undefined;
  const { key, strategy, draw, alternatives, expectedMs, timeoutMs, project, domain } = latest;
  const since = view.state.kind === "leased" ? view.state.startedAt : undefined;
  const seconds = ((now.getTime() - (since ?? now).getTime()) / 1_000).toFixed(1);
  return {
    id: original,
    project,
    domain,
    purpose: "hedge",
    chosen: {
      sizeClass,
      isExact: false,
      expectedDurationMs: expectedMs,
      timeoutMs,
      hedge: undefined,
      decision: {
        key,
        strategy,
        decidedAt: now,
        draw,
        backgroundSizeClass: undefined,
        pageRank: undefined,
        reason: {
          kind: "hedge",
          text: `the other had run for ${seconds} s on size class ${latest.sizeClass}, longer than expected; whichever ends first counts`,
        },
        alternatives,
      },
    },
  };
}
