import type { JobDefinition } from "#definitions/job-definition.ts";
import { compileGlobs } from "#git/glob.ts";
import { selectInputs } from "#graphs/select-inputs.ts";
import type { Accesses } from "./access-record.ts";
import { patternsFor } from "./patterns-for.ts";

/** The differences between a job's declared inputs and the files that it read. */
export interface InputsFound {
  /** False for a job without the key `inputs`: it gets every file of the checkout. */
  readonly declaresInputs: boolean;
  /** Files that it read but does not declare. */
  readonly missing: readonly string[];
  /** Directories that it listed without declaring them, and in which it read no file. */
  readonly listed: readonly string[];
  /** Patterns of `inputs` without any read file. */
  readonly unused: readonly string[];
  /** Needed jobs whose outputs it did not read. */
  readonly unusedNeeds: readonly string[];
  /** Patterns for the read files: the declared ones in use, and missing ones. */
  readonly proposal: readonly string[];
}

/** Compares a job's declared inputs with the files that it read. `paths` are all files of the checkout. */
export function compareInputs(
  paths: readonly string[],
  { inputs, needs = {} }: Pick<JobDefinition, "inputs" | "needs">,
  outputsOf: (job: string) => readonly string[],
  { read, listed }: Accesses,
): InputsFound {
  const entries = paths.map((path) => ({ path }));
  const declared = new Set(selectInputs(entries, inputs).map(({ path }) => path));
  const readPaths = paths.filter((path) => read.has(path));
  const missing = readPaths.filter((path) => !declared.has(path));
  const undeclaredListings = unexplainedListings(paths, declared, { read, listed });
  const positive = (inputs ?? []).filter((pattern) => !pattern.startsWith("!"));
  const unused = positive.filter((pattern) => !isUsed(pattern, paths, { read, listed }));
  const unusedNeeds = Object.entries(needs).flatMap(([job, need]) => {
    const places = (need.outputs ?? outputsOf(job)).map((path) =>
      need.at === undefined ? path : `${need.at}/${path}`,
    );
    if (places.length === 0) return [];
    const isRead = [...read, ...listed].some((path) => places.some((at) => isWithin(path, at)));
    return isRead ? [] : [job];
  });
  const kept = (inputs ?? []).filter((pattern) => !unused.includes(pattern));
  const found = inputs === undefined ? readPaths : missing;
  const names = undeclaredListings.map((directory) => (directory === "" ? "*" : `${directory}/*`));
  return {
    declaresInputs: inputs !== undefined,
    missing,
    listed: undeclaredListings,
    unused,
    unusedNeeds,
    proposal: [...new Set([...kept, ...patternsFor(found, paths), ...names])],
  };
}

/**
 * Returns directories whose listing matters although the job read none of their files: `ls migrations | wc -l`.
 *
 * When a file of a directory was read, the listing was a search for that file; when its parent was listed, too, the
 * listing was part of a search through everything.
 */
function unexplainedListings(
  paths: readonly string[],
  declared: ReadonlySet<string>,
  { read, listed }: Accesses,
): string[] {
  return [...listed].filter((directory) => {
    const below = paths.filter((path) => isWithin(path, directory));
    const hasUndeclared = below.some((path) => !declared.has(path));
    if (!hasUndeclared || (directory !== "" && listed.has(parentOf(directory)))) return false;
    return !below.some((path) => read.has(path));
  });
}

function isUsed(pattern: string, paths: readonly string[], { read, listed }: Accesses): boolean {
  const isMeant = compileGlobs([pattern]);
  return paths.some(
    (path) =>
      isMeant(path) && (read.has(path) || (parentOf(path) !== "" && listed.has(parentOf(path)))),
  );
}

function isWithin(path: string, directory: string): boolean {
  return directory === "" || path === directory || path.startsWith(`${directory}/`);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
