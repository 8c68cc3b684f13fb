import type { ProjectFiles } from "./repository-files.ts";
import type { NeededTool, StarterJob } from "./starter-job.ts";

/** A way to build and test a project, known by a file that it has. */
export interface Kind {
  readonly name: string;
  /** Whether a file in a directory makes that directory a project of this kind. */
  readonly mark: RegExp;
  /** Kinds of one group build the same sources in different ways: one of them is enough. */
  readonly group?: "native" | "jvm";
  /** Left out where another kind describes the same directory: often a Makefile only calls the other one's tools. */
  readonly yields?: boolean;
  /** Whether a project below another one of the same kind stands alone. */
  standsAlone?(project: ProjectFiles): boolean;
  /** Returns the jobs of a project; undefined when the mark means nothing. */
  recognise(project: ProjectFiles): RecognisedProject | undefined;
}

export interface RecognisedProject {
  /** For people: `package.json with lint and test, and package-lock.json`. */
  readonly found: string;
  readonly jobs: readonly StarterJob[];
  readonly tools: readonly NeededTool[];
  /** Notes about tasks that the jobs leave out, with reasons. */
  readonly notes?: readonly string[];
}
