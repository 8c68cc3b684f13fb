import { between, type Random, randomFrom } from "../random.ts";
import type { Trace } from "../trace.ts";
import { builds } from "./builds.ts";
import { type Action, codeBase } from "./code-base.ts";
import { standardHeader } from "./standard-header.ts";

const MiB = 2 ** 20;
/** About half of the trace. */
const changeAtMs = 600_000;

/**
 * In the middle, the work of a third of the targets changes: longer or shorter, more threads or one, more memory or
 * less.
 */
export function codeChange(seed: number): Trace {
  const random = randomFrom(seed);
  const before = codeBase(random, 60);
  const after = changed(random, before);
  return {
    header: standardHeader("code-change"),
    executions: builds(random, (at) => (at < changeAtMs ? before : after), {
      executions: 6_000,
      meanGapMs: 8_000,
      meanSize: 40,
      spreadMs: 60_000,
    }),
  };
}

function changed(random: Random, actions: readonly Action[]): Action[] {
  const changes = new Map<string, (action: Action) => Action>();
  for (const { target } of actions)
    if (!changes.has(target)) changes.set(target, random() < 1 / 3 ? change(random) : same);
  return actions.map((action) => (changes.get(action.target) ?? same)(action));
}

function same(action: Action): Action {
  return action;
}

function change(random: Random): (action: Action) => Action {
  // From a quarter to four times, with equal probability for up and down.
  const times = 4 ** between(random, -1, 1);
  const memoryTimes = 8 ** between(random, -0.5, 1);
  const turnsParallel = random() < 0.3;
  const losesThreads = random() < 0.3;
  return (action) => ({
    ...action,
    cpuMs: action.cpuMs * times,
    peakMemoryBytes: Math.min(action.peakMemoryBytes * memoryTimes, 24_000 * MiB),
    ...(turnsParallel && action.width === 1 && { width: 8, parallelShare: 0.85 }),
    ...(losesThreads && action.width > 1 && { width: 1, parallelShare: 0 }),
  });
}
