import type { ResultKey } from "#commit-index/result-key.ts";
import type { Build } from "../builds/build.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { Outlook } from "../prefetch/start-prefetch.ts";
import type { DuneRepository } from "./dune-protocol.ts";

/** A build that runs dune, with the prefetched results for it. */
export interface DuneBuild {
  readonly build: Build;
  /**
   * Yields dune's results that the build will probably request, each as soon as it is present with all its blobs;
   * results that are already present come first. Ends when no more results will come, or the build has ended.
   */
  readonly arrivals: (signal: AbortSignal) => AsyncIterable<GranaryResult>;
  /**
   * Notes the repositories of the sources, as dune reports them: absolute directories, the outer first. Resolves with
   * the directories of the nested ones in the order of the build's facts, when the results of their commits are
   * expected.
   */
  readonly uses?: (repositories: readonly DuneRepository[]) => Promise<readonly string[]>;
  /** Notes that a result belongs to a nested repository, by its position in that list, from 1. */
  readonly belongsTo?: (result: ResultKey, nested: number) => void;
  /** Resolves when the expected results are known, or there is no index. */
  readonly known?: Promise<void>;
  /** The expected results of all tools, and how fast they arrive; undefined while unknown. */
  readonly outlook?: () => Outlook | undefined;
}

/** The report of a dune process that was not started by `grange exec`. */
interface DuneWorkspace {
  /** The directory that contains `_build`. */
  readonly root: string;
}

/**
 * Starts and ends builds for dune processes that were not started by `grange exec`. The implementation finds out
 * whether the tree is dirty, because dune does not report it.
 */
export interface DuneBuilds {
  /** Returns undefined when the workspace belongs to no project: dune is then served, but nothing is recorded. */
  start(workspace: DuneWorkspace): Promise<DuneBuild | undefined>;
  end(build: DuneBuild): Promise<void>;
}
