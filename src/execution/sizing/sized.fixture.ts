import type { AfterAttempt, Analyzer, ChosenSize, EndedRun } from "./size-class-roles.ts";

/** Returns a typical choice: exactly this class, for five seconds. */
export function chosen(sizeClass: number, changes: Partial<ChosenSize> = {}): ChosenSize {
  return {
    sizeClass,
    isExact: true,
    expectedDurationMs: 1_000,
    timeoutMs: 5_000,
    hedge: undefined,
    decision: {
      key: "a.key",
      strategy: "made up",
      decidedAt: new Date(0),
      draw: 0.5,
      backgroundSizeClass: undefined,
      pageRank: undefined,
      reason: { kind: "fixed", text: `size class ${sizeClass}` },
      alternatives: [],
    },
    ...changes,
  };
}

export const final: AfterAttempt = { kind: "final", background: undefined };

/** An analyzer that always makes the same choice, and records how runs end. */
export function analyzer(
  first: ChosenSize,
  after: (run: EndedRun) => AfterAttempt = () => final,
): Analyzer & { readonly heard: EndedRun[] } {
  const heard: EndedRun[] = [];
  return {
    heard,
    learnsFromSuccess: true,
    analyze: async (requests) => requests.map(() => ({ select: () => first })),
    learner: async () => ({
      ended(run) {
        heard.push(run);
        return after(run);
      },
    }),
  };
}
