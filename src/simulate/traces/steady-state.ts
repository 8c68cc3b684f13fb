import { randomFrom } from "../random.ts";
import type { Trace, TraceHeader } from "../trace.ts";
import { builds } from "./builds.ts";
import { codeBase } from "./code-base.ts";
import { standardHeader } from "./standard-header.ts";

/** A code base that is built repeatedly, with few changes. */
export function steadyState(seed: number): Trace {
  return steady("steady-state", seed);
}

/** The same builds, in which one attempt in twenty fails without a cause. */
export function flaky(seed: number): Trace {
  const { header, executions } = steady("flaky", seed);
  return { header, executions: executions.map((each) => ({ ...each, flakyRate: 0.05 })) };
}

/**
 * The same builds, in which one run in a hundred loses its worker, and one in two hundred fails because of the farm.
 */
export function lostWorkers(seed: number): Trace {
  return steady("lost-workers", seed, { lostRate: 0.01, infrastructureRate: 0.005 });
}

function steady(name: string, seed: number, changes: Partial<TraceHeader> = {}): Trace {
  const random = randomFrom(seed);
  const actions = codeBase(random, 60);
  return {
    header: standardHeader(name, changes),
    executions: builds(random, () => actions, {
      executions: 6_000,
      meanGapMs: 8_000,
      meanSize: 40,
      spreadMs: 60_000,
    }),
  };
}
