import type { DefinitionProblem } from "./definition-problems.ts";
import type { Finding } from "./issue-sentence.ts";
import type { SourceFile } from "./source-file.ts";

/** The place in a file where definitions were written, for the people who correct them. */
export interface DefinitionOrigin {
  readonly file: string;
  /** A problem with the part at a path, at its place. */
  problem(finding: Finding): DefinitionProblem;
  /** The place of the part at a path, in a sentence. */
  where(path: readonly PropertyKey[]): string;
  /** The line in which a job begins, or all of them; undefined where there are no lines any more. */
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

/** A problem that belongs to no file: a wish of the submitter, or all definitions together. */
export function problemNowhere(message: string, file = ".grange"): DefinitionProblem {
  return { file, line: null, column: null, message };
}
