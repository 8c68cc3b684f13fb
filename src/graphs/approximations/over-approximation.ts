import { digestOf } from "#cas/digest-of.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { digestKey } from "#core/digest.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { buildAction } from "../build-action.ts";

/** The properties of a job that determine its action. */
export interface ApproximatedJob {
  readonly definition: JobDefinition;
  /** A name for the files of the commit that it always reads, by Git's ids. */
  readonly files: string;
  /** For a job whose inputs are found: a digest of the files that may be found. */
  readonly mayRead: string | null;
  /** The results of the jobs that it needs, without the one that finds its inputs. */
  readonly given: readonly Given[];
}

interface Given {
  readonly from: string;
  /** The result of a needed job: its outcome, and a digest of its outputs. */
  readonly gave: string;
  /** Whether the job continues without a missing part. */
  readonly goesWithout: boolean;
}

const nothing = digestOf(new Uint8Array());

/**
 * Returns a name for an action before its inputs are known: equal names mean equal actions.
 *
 * It covers everything that the inputs follow from: the files that may be found, and everything about the job that
 * finds them, up to the last of a `chain` (first the job itself, then its finder, then the finder of that). So a finder
 * that would find other files has another name, whatever the reason. As with the action cache, a command is trusted to
 * give the same output for the same input.
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
    // The finder itself needs only its own inputs; its result follows from the rest of the chain.
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
