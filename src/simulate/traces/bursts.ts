import { randomFrom } from "../random.ts";
import type { Trace } from "../trace.ts";
import { builds } from "./builds.ts";
import { codeBase } from "./code-base.ts";
import { standardHeader } from "./standard-header.ts";

/** How many workers of each class there are: 64 CPUs in all. */
const workers = [16, 8, 4, 2];

/** Great builds at once on a farm that cannot grow: queues are long, then there is nothing to do. */
export function bursts(seed: number): Trace {
  const random = randomFrom(seed);
  const actions = codeBase(random, 200);
  const header = standardHeader("bursts");
  const classes = header.classes.map((each, index) => ({
    ...each,
    pool: { kind: "fixed", workers: workers[index] ?? 1 } as const,
  }));
  return {
    // About an hour stands for a week.
    header: { ...header, classes, calendarRate: 160 },
    executions: builds(random, () => actions, {
      executions: 6_000,
      meanGapMs: 180_000,
      meanSize: 300,
      spreadMs: 5_000,
    }),
  };
}
