import type { JobDefinition } from "#definitions/job-definition.ts";
import type { CommitInputReader, CommitPlace } from "../commit-inputs.ts";
import { selectInputs } from "../select-inputs.ts";
import type { JobFacts } from "./approximation-facts.store.ts";
import { alwaysRead, mayBeFound } from "./choose-found-inputs.ts";
import { nameOfPaths } from "./name-of-files.ts";
import { type ApproximatedJob, overApproximation } from "./over-approximation.ts";
import { rulesOf } from "./take-found-inputs.ts";
import { weakApproximation } from "./weak-approximation.ts";

/**
 * Returns the over-approximation of a job and of the jobs that find its inputs. Asks Git for names of files and reads
 * no file.
 */
export async function nameAhead(
  inputs: CommitInputReader,
  commit: CommitPlace,
  chain: readonly JobFacts[],
): Promise<string> {
  return overApproximation(
    await Promise.all(chain.map((job) => approximated(inputs, commit, job))),
  );
}

/** Returns the weak approximation of a job whose inputs are found. */
export async function nameWeakly(
  inputs: CommitInputReader,
  commit: CommitPlace,
  job: string,
  definition: JobDefinition,
): Promise<string> {
  const rules = rulesOf(definition);
  const paths = await inputs.nameChosen(
    commit,
    `paths ${JSON.stringify(rules)}`,
    (entries) => mayBeFound(entries, rules),
    nameOfPaths,
  );
  return weakApproximation(job, definition, paths);
}

async function approximated(
  inputs: CommitInputReader,
  commit: CommitPlace,
  { definition, given }: JobFacts,
): Promise<ApproximatedJob> {
  const { inputs: patterns } = definition;
  if (definition["inputs-from"] === undefined) {
    const files = await inputs.nameChosen(
      commit,
      `read ${JSON.stringify(patterns ?? "all")}`,
      (entries) => selectInputs(entries, patterns),
    );
    return { definition, files, mayRead: null, given };
  }
  const rules = rulesOf(definition);
  const [files, mayRead] = await Promise.all([
    inputs.nameChosen(commit, `read ${JSON.stringify(patterns ?? [])}`, (entries) =>
      alwaysRead(entries, rules),
    ),
    inputs.nameChosen(commit, `may read ${JSON.stringify(rules.mayRead)}`, (entries) =>
      mayBeFound(entries, rules),
    ),
  ]);
  return { definition, files, mayRead, given };
}
