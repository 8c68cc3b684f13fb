import { evidenceOf } from "#size-classes/evidence.ts";
import type { PastRun } from "#size-classes/past-run.ts";
import type { EndedRun } from "#size-classes/strategy.ts";
import type { FarmMemory } from "./farm-memory.ts";
import type { Underway } from "./run.ts";

/**
 * Adds each run of an execution once to the farm's memory.
 *
 * An execution has succeeded before its background run starts, so the result of that run always counts.
 */
export function learnFrom(memory: FarmMemory, of: Underway, greatest: number, now: number): void {
  const { keys } = of.execution;
  const { remembered, verdict } = evidenceOf(of.ended, greatest);
  for (const place of remembered) {
    const run = of.ended[place];
    if (run === undefined || of.remembered.has(run)) continue;
    of.remembered.add(run);
    const past = asPastRun(run, of.endedAt.get(run) ?? now);
    if (past !== undefined) memory.learn(keys, { sizeClass: run.sizeClass, run: past });
  }
  if (of.hasVerdict) return;
  of.hasVerdict = true;
  if (verdict === "succeeded") memory.succeeded(keys);
  if (verdict === "failed-on-greatest") memory.failedOnGreatest(keys, now);
  if (of.first?.pageRank !== undefined) memory.keepPageRank(keys, of.first.pageRank);
}

function asPastRun(run: EndedRun, at: number): PastRun | undefined {
  const { end, durationMs, timeoutMs, cpuMs, peakMemoryBytes } = run;
  if (end === "lost") return undefined;
  return {
    end,
    durationMs,
    timeoutMs,
    ...(cpuMs !== undefined && { cpuMs }),
    ...(peakMemoryBytes !== undefined && { peakMemoryBytes }),
    at,
  };
}
