import { rest } from "#core/resting.ts";
import type { RunningPrefetch } from "../prefetch/start-prefetch.ts";
import type { BuildFacts } from "./build-facts.ts";
import { type Plan, type PlanParts, planPrefetch } from "./plan-prefetch.ts";

/**
 * The interval for checking the state of an unreachable farm, in ms. The check is in memory; a probe is sent rarely.
 */
const lookAgainMs = 250;
/** The longest pause, in ms, between requests that a reachable farm refuses. */
const mostRestMs = 30_000;

/**
 * Runs `planPrefetch`. If the farm is unreachable when the build begins, runs it again as soon as the farm is back:
 * otherwise a short outage at its start would cost the build all existing results of its commit.
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
