import { keyText, type ResultKey } from "#commit-index/result-key.ts";

/**
 * Measures how long making a result took, for tools that do not report it: from the missed request until the result is
 * stored.
 */
interface StepClock {
  missed(key: ResultKey, atMs: number): void;
  /** Returns undefined when it was not requested, and at a second call. */
  tookMs(key: ResultKey, atMs: number): number | undefined;
}

interface Made {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * ccache requests two results with each compilation, and writes both when it is done. Results that end this soon after
 * each other and began in the same time count as one step. In ms.
 */
const sameStepMs = 50;
const remembered = 16;
/** The number of missed requests that are kept; the oldest are dropped. */
const mostMissed = 100_000;

export function stepClock(): StepClock {
  const missed = new Map<string, number>();
  let made: Made[] = [];
  return {
    missed(key, atMs) {
      const name = keyText(key);
      if (missed.has(name)) return;
      missed.set(name, atMs);
      if (missed.size <= mostMissed) return;
      const [oldest] = missed.keys();
      if (oldest !== undefined) missed.delete(oldest);
    },
    tookMs(key, toMs) {
      const name = keyText(key);
      const fromMs = missed.get(name);
      if (fromMs === undefined) return undefined;
      missed.delete(name);
      const recent = made.filter((one) => toMs - one.toMs <= sameStepMs);
      const shared = recent.map((one) => Math.min(one.toMs, toMs) - Math.max(one.fromMs, fromMs));
      made = [...recent, { fromMs, toMs }].slice(-remembered);
      return Math.max(0, toMs - fromMs - Math.max(0, ...shared));
    },
  };
}
