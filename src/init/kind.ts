import type { ProjectFiles } from "./repository-files.ts";
import type { NeededTool, StarterJob } from "./starter-job.ts";

/** A way to build and test a project, recognised by one of its files. */
export interface Kind {
  readonly name: string;
  /** The files that make their directory a project of this kind. */
  readonly mark: RegExp;
  /** Kinds of one group build the same sources in different ways, so only one of them is used. */
  readonly group?: "native" | "jvm";
  /** Left out when another kind describes the same directory: often a Makefile only calls the other kind's tools. */
  readonly yields?: boolean;
  /** Whether a project below another one of the same kind is separate. */
  standsAlone?(project: ProjectFiles): boolean;
  /** Returns the jobs of a project; undefined when the file alone proves nothing. */
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
