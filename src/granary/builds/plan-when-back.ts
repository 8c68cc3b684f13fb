import { rest } from "#core/resting.ts";
import type { RunningPrefetch } from "../prefetch/start-prefetch.ts";
import type { BuildFacts } from "./build-facts.ts";
import { type Plan, type PlanParts, planAhead } from "./plan-ahead.ts";

/** A farm that is away is looked for as often as this: a question in memory, which sends a probe now and then. */
const lookAgainMs = 250;
/** One that is there and fails at this question is asked ever less often. */
const mostRestMs = 30_000;

/**
 * `planAhead`, and for a build that begins while the farm is away, as soon as it is back: a minute's trouble at its first
 * second would else cost it all that was made for its commit.
 */
export async function planWhenBack(
  parts: PlanParts,
  facts: BuildFacts,
  prefetch: RunningPrefetch,
  signal: AbortSignal,
): Promise<Plan> {
  for (let restMs = lookAgainMs; ; restMs = Math.min(mostRestMs, 2 * restMs)) {
    const plan = await planAhead(parts, facts, prefetch, signal);
    if (!plan.isUnheard) return plan;
    await rest(restMs, signal);
    while (parts.farm.isAway() && !signal.aborted) await rest(lookAgainMs, signal);
    if (signal.aborted) return plan;
  }
}
