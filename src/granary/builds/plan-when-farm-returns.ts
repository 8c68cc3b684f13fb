import { rest } from "#core/resting.ts";
import type { RunningPrefetch } from "../prefetch/start-prefetch.ts";
import type { BuildFacts } from "./build-facts.ts";
import { type Plan, type PlanParts, planPrefetch } from "./plan-prefetch.ts";

/** How often the state of an unreachable farm is checked, in ms. The check is in memory; a probe is sent now and then. */
const lookAgainMs = 250;
/** The longest pause, in ms, between requests that a reachable farm refuses. */
const mostRestMs = 30_000;

/**
 * `planPrefetch`, and for a build that begins while the farm is away, as soon as it is back: a minute's trouble at its first
 * second would else cost it all that was made for its commit.
 */
export async function planWhenFarmReturns(
  parts: PlanParts,
  facts: BuildFacts,
  prefetch: RunningPrefetch,
  signal: AbortSignal,
): Promise<Plan> {
  for (let restMs = lookAgainMs; ; restMs = Math.min(mostRestMs, 2 * restMs)) {
    const plan = await planPrefetch(parts, facts, prefetch, signal);
    if (!plan.isUnheard) return plan;
    await rest(restMs, signal);
    while (parts.farm.isAway() && !signal.aborted) await rest(lookAgainMs, signal);
    if (signal.aborted) return plan;
  }
}
