import { randomFrom } from "../random.ts";
import type { Trace } from "../trace.ts";
import { builds } from "./builds.ts";
import { codeBase } from "./code-base.ts";
import { standardHeader } from "./standard-header.ts";

/** The number of workers of each class: 64 CPUs in total. */
const workers = [16, 8, 4, 2];

/** Large builds at the same time on a farm that cannot grow: queues are long, and then the farm is idle. */
export function bursts(seed: number): Trace {
  const random = randomFrom(seed);
  const actions = codeBase(random, 200);
  const header = standardHeader("bursts");
  const classes = header.classes.map((each, index) => ({
    ...each,
    pool: { kind: "fixed", workers: workers[index] ?? 1 } as const,
  }));
  return {
    // About an hour represents a week.
    header: { ...header, classes, calendarRate: 160 },
    executions: builds(random, () => actions, {
      executions: 6_000,
      meanGapMs: 180_000,
      meanSize: 300,
      spreadMs: 5_000,
    }),
  };
}
