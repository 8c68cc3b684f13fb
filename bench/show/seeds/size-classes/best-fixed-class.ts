import type { Chooser } from "#simulate/chooser.ts";
import { firstStoppingEvent } from "#simulate/first-stopping-event.ts";
import type { Trace, TraceClass, TraceExecution } from "#simulate/trace.ts";
import type { Choice } from "#size-classes/choice.ts";
import type { SizeClassSettings } from "#size-classes/settings.ts";
import { priceOfWaiting } from "#size-classes/strategies/grange-price.ts";
import type { OfferedClass } from "#size-classes/strategy.ts";

/**
 * Always sends each action to one class: the best one in hindsight over all its executions in the trace.
 *
 * So it has knowledge that is not available in advance, but not about single inputs. A failed execution runs once more
 * on the largest class. This is about the limit for a strategy that does not know inputs.
 */
export function bestFixedClass(trace: Trace, settings: SizeClassSettings): Chooser {
  const best = bestClasses(trace, settings);
  const choiceOn = (
    { sizeClass }: Pick<OfferedClass, "sizeClass">,
    timeoutMs: number,
    expectedMs: number,
  ): Choice => ({
    sizeClass,
    isExact: !settings.greaterMayTake,
    expectedMs,
    timeoutMs,
    hedge: undefined,
    backgroundSizeClass: undefined,
    pageRank: undefined,
    reason: { kind: "fixed", text: "the best of this action in hindsight" },
    alternatives: [],
  });
  return {
    name: "best-fixed",
    choose: ({ timeoutMs }, { keys }) => {
      const known = best.get(keys.action);
      if (known === undefined) throw new Error(`${keys.action} is not in the trace`);
      return choiceOn(known, timeoutMs, known.expectedMs);
    },
    afterwards: ({ classes, timeoutMs }, _first, runs) => {
      const last = runs.at(-1);
      const greatest = classes.at(-1);
      if (last === undefined || greatest === undefined || last.end === "succeeded")
        return { kind: "final" };
      if (last.sizeClass >= greatest.sizeClass || last.end === "lost") return { kind: "final" };
      return { kind: "again", choice: choiceOn(greatest, timeoutMs, last.durationMs) };
    },
  };
}

interface Best {
  readonly sizeClass: number;
  readonly expectedMs: number;
}

function bestClasses(trace: Trace, settings: SizeClassSettings): Map<string, Best> {
  const { classes } = trace.header;
  const waiting = priceOfWaiting(
    classes.map((each) => ({ ...each, waitMs: 0 })),
    settings,
  );
  const byAction = new Map<string, TraceExecution[]>();
  for (const execution of trace.executions) {
    const known = byAction.get(execution.keys.action);
    if (known === undefined) byAction.set(execution.keys.action, [execution]);
    else known.push(execution);
  }
  return new Map(
    [...byAction].map(([action, executions]): [string, Best] => {
      let best: Best | undefined;
      let least = Number.POSITIVE_INFINITY;
      for (const on of classes) {
        let cost = 0;
        let ms = 0;
        for (const execution of executions)
          for (const { each, durationMs } of runsFrom(trace, execution, on)) {
            cost += (each.price + waiting) * durationMs;
            ms += durationMs;
          }
        if (cost >= least) continue;
        least = cost;
        best = { sizeClass: on.sizeClass, expectedMs: Math.round(ms / executions.length) };
      }
      return [action, best as Best];
    }),
  );
}

/** Yields the runs of an execution that starts on a class, and runs on the largest if it fails. */
function* runsFrom(
  { header }: Trace,
  execution: TraceExecution,
  on: TraceClass,
): Generator<{ readonly each: TraceClass; readonly durationMs: number }> {
  const { timeoutMs } = execution;
  const asked = { seed: 0, execution: 0, run: 0, attempt: 0, timeoutMs };
  const sound = { ...header, lostRate: 0, infrastructureRate: 0, hiddenOutOfMemoryRate: 0 };
  const work = { ...execution, flakyRate: 0 };
  const first = firstStoppingEvent(sound, work, on, asked);
  yield { each: on, durationMs: first.durationMs };
  const greatest = header.classes.at(-1);
  if (first.end === "succeeded" || greatest === undefined || on === greatest) return;
  yield { each: greatest, durationMs: firstStoppingEvent(sound, work, greatest, asked).durationMs };
}
