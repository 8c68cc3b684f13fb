import type { DefinitionProblem } from "./definition-problems.ts";
import type { Finding } from "./issue-sentence.ts";
import type { SourceFile } from "./source-file.ts";

/** The place in a file where definitions were written, for the people who correct them. */
export interface DefinitionOrigin {
  readonly file: string;
  /** Returns a problem with the part at a path, with its place. */
  problem(finding: Finding): DefinitionProblem;
  /** Returns the place of the part at a path, in a sentence. */
  where(path: readonly PropertyKey[]): string;
  /** Returns the first line of a job, or of all jobs; undefined when the lines are not known. */
  lineOf(job: string | undefined): number | undefined;
}

export function originInFile(source: SourceFile): DefinitionOrigin {
  return {
    file: source.file,
    problem: ({ path, of, message }) => ({
      file: source.file,
      ...source.place(path, of),
      message,
    }),
    where: (path) => `${source.file}:${source.place(path, "key").line}`,
    lineOf: (job) => source.lineOfJob(job),
  };
}

/** Returns the origin of stored definitions: they have no lines, but the names of entries. */
export function originInCatalog(digest: string): DefinitionOrigin {
  const file = `catalog ${digest.slice(0, 10)}`;
  const where = (path: readonly PropertyKey[]) => `${file}, ${path.map(String).join(".")}`;
  return {
    file,
    where,
    lineOf: () => undefined,
    problem: ({ path, message }) => ({ file: where(path), line: null, column: null, message }),
  };
}

/** Returns a problem that belongs to no file: in the submitter's request, or all definitions together. */
export function problemNowhere(message: string, file = ".grange"): DefinitionProblem {
  return { file, line: null, column: null, message };
}
