import { type JobFacts, longestChain } from "./approximation-facts.store.ts";

/**
 * Whether a job's action follows from what is known of it and of those that find its inputs.
 *
 * It does not where somebody changed one of them in this graph: what it has made may be by the other
 * definition. Nor where something else than commands says what is found: other machines, shared items, a pretence.
 */
export function canBeApproximated(chain: readonly JobFacts[]): boolean {
  return (
    chain.length >= 2 &&
    chain.length <= longestChain &&
    chain.at(-1)?.finder === null &&
    chain.every(
      (job) =>
        job.kind === "command" &&
        !job.outside &&
        !job.isCustomised &&
        job.definition.chunks === undefined &&
        // Which value it would be given now is asked when it is ready.
        job.definition.secrets === undefined &&
        (job.finder === null || job.approximation !== null),
    )
  );
}

/**
 * Whether what these have found is what follows from their own commands and inputs as they are known.
 *
 * Of one that was itself known ahead, it is not known any more what its finder would have been given.
 */
export function haveFound(finders: readonly JobFacts[]): boolean {
  return finders.every(
    ({ state, outcome, stale, approximation }) =>
      state === "succeeded" && outcome === "succeeded" && !stale && approximation !== "hit",
  );
}
