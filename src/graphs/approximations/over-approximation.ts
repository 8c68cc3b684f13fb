import { digestOf } from "#cas/digest-of.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { digestKey } from "#core/digest.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { buildAction } from "../build-action.ts";

/** A job as far as its action follows from it. */
export interface ApproximatedJob {
  readonly definition: JobDefinition;
  /** Names the files of the commit that it reads in any case, by Git's ids. */
  readonly files: string;
  /** Of one whose inputs are found, names the files that may be. */
  readonly mayRead: string | null;
  /** What the jobs that it needs have given; without the one that finds its inputs. */
  readonly given: readonly Given[];
}

interface Given {
  readonly from: string;
  /** A yield: the outcome, and a digest of the outputs. */
  readonly gave: string;
  /** What is missing of it is gone without. */
  readonly goesWithout: boolean;
}

const nothing = digestOf(new Uint8Array());

/**
 * A name for an action, known before its inputs are: two that are equal mean equal actions.
 *
 * It covers all that the inputs follow from: the files that may be found, and everything of the job that
 * finds them, up to the last of a `chain` (first the job itself, then its finder, then that one's). So a finder
 * that would say something else has another name, whatever it is that changed its mind. As with the action cache, a
 * command is trusted to make the same of the same.
 */
export function overApproximation(chain: readonly ApproximatedJob[]): string {
  const text = canonicalJson(["over", 1, ...chain.map(partOf)]);
  return digestOf(new TextEncoder().encode(text)).hash;
}

function partOf({ definition, files, mayRead, given }: ApproximatedJob) {
  const { needs = {}, sources = [], "inputs-from": from } = definition;
  return {
    action: digestKey(buildAction(definition, nothing).action.digest),
    files,
    mayRead,
    list: from?.output ?? null,
    // Of the finder itself, what is taken; what it gives follows from the rest of the chain.
    takesOfFinder: from === undefined ? null : (needs[from.job] ?? null),
    takes: given.map((one) => ({ ...one, need: needs[one.from] ?? null })),
    sources: sources.map(({ repository, commit, at, inputs }) => ({
      repository,
      commit: commit ?? null,
      at,
      inputs: inputs ?? null,
    })),
  };
}
