import { z } from "zod";
import { durationText } from "#core/duration-text.ts";
import type { Tx } from "#db/db.ts";
import { readExecutions } from "../read-executions.store.ts";
import { decisionsOf, type KeptDecision, type NewDecision } from "../sizing/size-decision.store.ts";
import type { BegunHedge } from "./hedge.store.ts";

function ofNone(reason: unknown): [] {
  if (reason instanceof z.ZodError) return [];
  throw reason;
}

/** Describes that a second run began, in the words of the choice that allowed it. */
export async function hedgeDecisionOf(
  tx: Tx,
  { original }: Pick<BegunHedge, "original">,
  sizeClass: number,
  now: Date,
): Promise<NewDecision | undefined> {
  // A decision that an older version stored may not be readable; the second run does not need it.
  const latest = (await decisionsOf(tx, original).catch(ofNone)).at(-1);
  const [view] = await readExecutions(tx, [original]);
  if (latest === undefined || view === undefined) return undefined;
  const since = view.state.kind === "leased" ? view.state.startedAt : undefined;
  return { id: original, ...hedgeAfter(latest, sizeClass, since ?? now, now) };
}

/** Returns the decision for a second run, in parallel to a run that started at that time. */
export function hedgeAfter(
  latest: KeptDecision,
  sizeClass: number,
  since: Date,
  now: Date,
): Omit<NewDecision, "id"> {
  const { key, strategy, draw, alternatives, expectedMs, timeoutMs, project, domain } = latest;
  return {
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
          text: `the other had run for ${durationText(now.getTime() - since.getTime())} on size class ${latest.sizeClass}, longer than expected; whichever ends first counts`,
        },
        alternatives,
      },
    },
  };
}
