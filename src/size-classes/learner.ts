import type {
  ChosenSize,
  Learner,
  EndedRun as QueueRun,
  SizedExecution,
} from "#execution/sizing/size-class-roles.ts";
import { Alternative, type Choice, Reason } from "./choice.ts";
import { strategyOf } from "./choose-strategy.ts";
import { chosenSize } from "./chosen-size.ts";
import { drawOf } from "./draw.ts";
import type { KeyHistory } from "./key-history.ts";
import type { SizeClassSettings } from "./settings.ts";
import { type EndedRun, type OfferedClass, strategyNames } from "./strategy.ts";

/** Returns the learner of one execution with a chosen class, which decides what follows when a run of it ends. */
export function learnerOf(parts: {
  readonly execution: SizedExecution;
  readonly first: SizedExecution["decisions"][number];
  readonly classes: readonly OfferedClass[];
  readonly histories: readonly KeyHistory[];
  readonly settings: SizeClassSettings;
  readonly now: Date;
}): Learner {
  const { execution, first, classes, histories, settings, now } = parts;
  // The strategy of the first choice continues, even when the setting has changed meanwhile.
  const name = strategyNames.find((each) => each === first.decision.strategy) ?? settings.strategy;
  const strategy = strategyOf({ ...settings, strategy: name });
  return {
    ended(run) {
      // The workers of its platform no longer exist: it cannot run again.
      if (classes.length === 0) return { kind: "final", background: undefined };
      const runs = [...execution.attempts, run].map(asRun);
      const draw = drawOf(execution.id, runs.length + 1);
      const { key } = first.decision;
      const kept = (choice: Choice): ChosenSize =>
        chosenSize(choice, { key, strategy: name, draw, decidedAt: now, reason: choice.reason });
      const situation = {
        histories,
        classes,
        timeoutMs: execution.requestedTimeoutMs,
        now: now.getTime(),
        draw,
      };
      const next = strategy.afterwards(situation, choiceOf(first), runs);
      if (next.kind === "again") return { kind: "again", chosen: kept(next.choice) };
      if (next.background === undefined) return { kind: "final", background: undefined };
      const { sizeClass, timeoutMs, expectedMs } = next.background;
      const background = kept({
        sizeClass,
        timeoutMs,
        expectedMs,
        isExact: true,
        hedge: undefined,
        backgroundSizeClass: undefined,
        pageRank: undefined,
        reason: {
          kind: "exploring",
          text: `to measure it on size class ${sizeClass}; no client waits for it`,
        },
        alternatives: [],
      });
      const { mostBackgroundRuns: mostWaiting } = settings;
      return { kind: "final", background: { chosen: background, mostWaiting } };
    },
  };
}

function asRun({ outcome, ...run }: QueueRun): EndedRun {
  return { ...run, end: outcome === "worker_lost" ? "lost" : outcome };
}

/** Returns the parts of the first choice that strategies read again. */
function choiceOf(kept: SizedExecution["decisions"][number]): Choice {
  const { sizeClass, isExact, expectedDurationMs, timeoutMs, decision } = kept;
  const reason = Reason.safeParse(decision.reason);
  const alternatives = Alternative.array().safeParse(decision.alternatives);
  return {
    sizeClass,
    isExact,
    expectedMs: expectedDurationMs,
    timeoutMs,
    hedge: undefined,
    backgroundSizeClass: decision.backgroundSizeClass,
    pageRank: undefined,
    reason: reason.success ? reason.data : { kind: "fixed", text: "" },
    alternatives: alternatives.success ? alternatives.data : [],
  };
}
