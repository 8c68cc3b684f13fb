import type { ChosenSize } from "#execution/sizing/size-class-roles.ts";
import type { Choice } from "./choice.ts";

/** Returns a choice in the form that the queue stores. */
export function chosenSize(
  choice: Choice,
  about: Pick<ChosenSize["decision"], "key" | "strategy" | "draw" | "decidedAt"> & {
    readonly reason: Choice["reason"] | { readonly kind: string; readonly text: string };
  },
): ChosenSize {
  const { sizeClass, isExact, hedge, pageRank, backgroundSizeClass, alternatives } = choice;
  return {
    sizeClass,
    isExact,
    expectedDurationMs: Math.round(choice.expectedMs),
    timeoutMs: Math.max(1, Math.round(choice.timeoutMs)),
    hedge: hedge && { ...hedge, afterMs: Math.max(1, Math.round(hedge.afterMs)) },
    decision: {
      ...about,
      alternatives,
      backgroundSizeClass,
      pageRank: pageRank && Object.fromEntries(pageRank),
    },
  };
}
