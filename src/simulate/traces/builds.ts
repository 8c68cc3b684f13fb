import { between, exponential, type Random } from "../random.ts";
import type { TraceExecution } from "../trace.ts";
import { type Action, executionOf } from "./code-base.ts";

interface Builds {
  readonly executions: number;
  /** The mean time between one build and the next. */
  readonly meanGapMs: number;
  /** The mean number of actions of one build; each build varies around it. */
  readonly meanSize: number;
  /** The time over which the actions of a build are submitted, because some need others first. */
  readonly spreadMs: number;
}

/** How often a developer breaks the subject of an action, and how often it is built until it is repaired. */
const breaks = 0.008;
const triesUntilMended = 2.5;

/**
 * Builds of a code base, one after the other and overlapping: each requests some of its actions.
 *
 * @param first The actions of the first build, which requests all of them.
 */
export function builds(
  random: Random,
  actions: (at: number) => readonly Action[],
  { executions, meanGapMs, meanSize, spreadMs }: Builds,
  first: readonly Action[] = [],
): TraceExecution[] {
  const all: TraceExecution[] = [];
  const brokenFor = new Map<string, number>();
  const ask = (action: Action, at: number) => {
    const left = brokenFor.get(action.action) ?? 0;
    const stays =
      left > 0 ? left : random() < breaks ? 1 + exponential(random, triesUntilMended) : 0;
    brokenFor.set(action.action, Math.max(0, stays - 1));
    const execution = executionOf(random, action, at);
    all.push(stays >= 1 ? { ...execution, failsAt: between(random, 0.2, 1) } : execution);
  };
  for (const action of first) ask(action, random() * spreadMs);
  let at = first.length > 0 ? spreadMs : 0;
  for (; all.length < executions; at += exponential(random, meanGapMs)) {
    const size = Math.max(1, Math.round(exponential(random, meanSize)));
    for (const action of pick(random, actions(at), Math.min(size, executions - all.length)))
      ask(action, at + random() * spreadMs);
  }
  return all.sort((one, other) => one.at - other.at);
}

/**
 * Draws different actions, popular ones with a higher probability: the smallest exponential times (Efraimidis and
 * Spirakis, 2006).
 */
function pick(random: Random, actions: readonly Action[], count: number): Action[] {
  return actions
    .map((action) => ({ action, time: exponential(random, 1 / action.popularity) }))
    .sort((one, other) => one.time - other.time)
    .slice(0, count)
    .map(({ action }) => action);
}
