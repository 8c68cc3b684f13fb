import { pareto, randomFrom } from "../random.ts";
import type { Trace } from "../trace.ts";
import { builds } from "./builds.ts";
import { codeBase } from "./code-base.ts";
import { standardHeader } from "./standard-header.ts";

const GiB = 2 ** 30;

/**
 * One target in eight needs gigabytes; the need varies between executions, and half of those without enough memory
 * report only "failed".
 */
export function memoryOutliers(seed: number): Trace {
  const random = randomFrom(seed);
  const peakOfTarget = new Map<string, number | undefined>();
  const actions = codeBase(random, 60).map((action) => {
    const { target } = action;
    if (!peakOfTarget.has(target))
      peakOfTarget.set(
        target,
        random() < 1 / 8 ? pareto(random, 2.5 * GiB, 1, 26 * GiB) : undefined,
      );
    const peakMemoryBytes = peakOfTarget.get(target);
    return peakMemoryBytes === undefined
      ? action
      : { ...action, peakMemoryBytes, noise: action.noise + 0.1 };
  });
  return {
    header: standardHeader("memory-outliers", { hiddenOutOfMemoryRate: 0.5 }),
    executions: builds(random, () => actions, {
      executions: 6_000,
      meanGapMs: 8_000,
      meanSize: 40,
      spreadMs: 60_000,
    }),
  };
}
