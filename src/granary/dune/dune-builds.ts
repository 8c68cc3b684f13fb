import type { Build } from "../builds/build.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { Outlook } from "../prefetch/start-prefetch.ts";

/** A build that runs dune, with what is fetched ahead for it. */
export interface DuneBuild {
  readonly build: Build;
  /**
   * Results of dune's that the build is expected to ask for, each as soon as it is here with all its blobs: those that
   * were here already at once. Ends when no more will come, or the build is over.
   */
  readonly arrivals: (signal: AbortSignal) => AsyncIterable<GranaryResult>;
  /** Resolves once it is known what is expected, or that nobody knows. */
  readonly known?: Promise<void>;
  /** What is expected of all tools, and how fast it comes; undefined while nobody knows. */
  readonly outlook?: () => Outlook | undefined;
}

/** What a dune says of itself that no `grange exec` started. */
export interface DuneWorkspace {
  /** Where `_build` lies. */
  readonly root: string;
}

/** Starts and ends builds for such dunes. Whether the tree is dirty is its business: dune does not say. */
export interface DuneBuilds {
  /** Undefined: that workspace belongs to no project. dune is served, and nothing noted. */
  start(workspace: DuneWorkspace): Promise<DuneBuild | undefined>;
  end(build: DuneBuild): Promise<void>;
}
