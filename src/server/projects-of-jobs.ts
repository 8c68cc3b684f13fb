import type { OutputTrees } from "#actions/output-trees.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { ProjectStore } from "#cas/namespaces/project-blobs.ts";
import type { CommitInputReader } from "#graphs/commit-inputs.ts";
import type { InProject } from "#graphs/project-of-jobs.ts";

/** Returns the projects of jobs. All readers of commits share what they know of commits. */
export function projectsOfJobs(parts: {
  readonly storeOf: (project: string) => Pick<ProjectStore, "blobs" | "certain">;
  readonly treesOf: (project: string) => OutputTrees;
  readonly inputs: CommitInputReader;
}): InProject {
  const { storeOf, treesOf, inputs } = parts;
  // A project's blob store is replaced when it gets its first blobs, and stays the same from then on.
  const readers = new WeakMap<BlobStore, CommitInputReader>();
  return (project) => {
    const { blobs, certain } = storeOf(project);
    const reader = readers.get(certain) ?? inputs.inStore(certain);
    readers.set(certain, reader);
    return { project, store: blobs, trees: treesOf(project), inputs: reader };
  };
}
