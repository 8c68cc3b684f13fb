import { hasMovableImage } from "../resolved-image.ts";
import { type JobFacts, longestChain } from "./approximation-facts.store.ts";

/**
 * Returns whether the action of a job follows from the known facts about it and the jobs that find its inputs.
 *
 * It does not if one of them was changed in this graph, because its result may then be from the other definition. It
 * also does not if the list is not made by commands, but by other machines, shared items or a dummy.
 */
export function canBeApproximated(chain: readonly JobFacts[]): boolean {
  return (
    chain.length >= 2 &&
    chain.length <= longestChain &&
    chain.at(-1)?.finder === null &&
    chain.every(
      (job, at) =>
        job.kind === "command" &&
        !job.outside &&
        !job.isCustomised &&
        job.definition.chunks === undefined &&
        // The value of a secret is only read when the job is ready.
        job.definition.secrets === undefined &&
        // The rights of a run's token name its graph, or its repository.
        job.definition.identity === undefined &&
        job.definition.caches !== true &&
        // Its list may be from the image that the tag named before.
        (at === 0 || !hasMovableImage(job.definition)) &&
        (job.finder === null || job.approximation !== null),
    )
  );
}

/**
 * Returns whether the finders' results follow from their own commands and inputs as known.
 *
 * For a finder whose result was itself known ahead, the inputs that its own finder would have found are unknown.
 */
export function areResultsKnown(finders: readonly JobFacts[]): boolean {
  return finders.every(
    ({ state, outcome, stale, approximation }) =>
      state === "succeeded" && outcome === "succeeded" && !stale && approximation !== "hit",
  );
}
