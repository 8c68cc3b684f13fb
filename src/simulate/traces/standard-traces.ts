import type { Trace } from "../trace.ts";
import { bursts } from "./bursts.ts";
import { codeChange } from "./code-change.ts";
import { memoryOutliers } from "./memory-outliers.ts";
import { newCodeBase } from "./new-code-base.ts";
import { flaky, lostWorkers, steadyState } from "./steady-state.ts";

/** The traces by name, each made from a seed. docs/size-class-traces.md describes them. */
export const standardTraces: Readonly<Record<string, (seed: number) => Trace>> = {
  "new-code-base": newCodeBase,
  "steady-state": steadyState,
  "code-change": codeChange,
  bursts,
  "memory-outliers": memoryOutliers,
  flaky,
  "lost-workers": lostWorkers,
};
