import type { Divergence, GranaryBuildReport } from "#api/granary.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import type { Service } from "#core/service.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { SetAside } from "./choose-to-send.ts";
import type { HeldUntil } from "./send-gate.ts";

/** The requests of a build, for its commit's index. */
export interface IndexToPublish {
  readonly project: string;
  readonly repository: string;
  /** The build's commit, then its first parents, the nearest first. */
  readonly commits: readonly string[];
  readonly tree: string;
  readonly branch: string;
  readonly environment: string;
  readonly entries: readonly IndexEntry[];
  readonly complete: boolean;
  readonly targets: readonly string[];
}

export interface OutboxState {
  readonly results: number;
  readonly indexes: number;
  readonly reports: number;
  readonly bytes: number;
  /** Why nothing, or not everything, can currently be sent; undefined without problems. */
  readonly trouble: string | undefined;
  /**
   * Waiting files that the farm has failed to accept often enough: tried again each hour, and when the granary starts.
   */
  readonly setAside?: SetAside | undefined;
}

/**
 * Sends data to the farm in the background: in order (results before the index that names them), again after a crash,
 * at least once. Data that the farm refuses permanently are dropped and reported. Data that it fails to accept now are
 * retried, and others are sent before them.
 *
 * A crash of this process loses nothing. A power cut loses at most the results of the last second, which nothing relies
 * on. An index or a report is durable when its `add…` resolves, with all results before it.
 */
export interface Outbox extends Service {
  addResult(result: GranaryResult): Promise<void>;
  addIndex(index: IndexToPublish): Promise<void>;
  addReport(report: GranaryBuildReport): Promise<void>;
  /** Adds a report of a result that differed when it was made again; it counts as a report. */
  addDivergence(project: string, divergence: Divergence): Promise<void>;
  /**
   * While held, during a build, nothing is sent; with "due" only files that have waited long enough or that something
   * waits for. Returns the function that releases it.
   */
  hold(until?: HeldUntil): () => void;
  state(): OutboxState;
  /** Resolves with the state when nothing is left, or nothing can be sent. */
  drained(signal?: AbortSignal): Promise<OutboxState>;
  /** Bytes of results that were sent since it was opened. */
  readonly sentBytes: number;
}
