import type { OutputTrees } from "#actions/output-trees.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { CommitInputReader } from "./commit-inputs.ts";

/** The project of some jobs: its name, its blobs, and what reads and writes them. */
export interface ProjectOfJobs {
  readonly project: string;
  readonly store: BlobStore;
  readonly trees: OutputTrees;
  /** Imports files of commits into `store`. */
  readonly inputs: CommitInputReader;
}

/** Returns the project with a name. A project begins with its first blob. */
export type InProject = (project: string) => ProjectOfJobs;
