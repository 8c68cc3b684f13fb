import type { Divergence, GranaryBuildReport } from "#api/granary.ts";
import type { IndexEntry } from "#commit-index/index-entry.ts";
import type { Service } from "#core/service.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { SetAside } from "./choose-to-send.ts";
import type { HeldUntil } from "./send-gate.ts";

/** What a build asked for, on its way to its commit's index. */
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
  /** Why nothing leaves at the moment, or not all; undefined when all goes well. */
  readonly trouble: string | undefined;
  /** Of what waits, that which the farm has not taken often enough: tried again each hour, and when the granary starts. */
  readonly setAside?: SetAside | undefined;
}

/**
 * What goes to the farm, in the background: sent in order (results before the index that names them), again after a
 * crash, at least once. What the farm refuses for good is dropped, and said so; what it fails to take is tried again by and
 * by, and the others go before it.
 *
 * Of what was added a crash of this process takes nothing. A power cut takes results of the last second at most, which are
 * not promised to anybody; an index or a report is durable when its `add…` resolves, with the results before it.
 */
export interface Outbox extends Service {
  addResult(result: GranaryResult): Promise<void>;
  addIndex(index: IndexToPublish): Promise<void>;
  addReport(report: GranaryBuildReport): Promise<void>;
  /** Of a result that came out otherwise; counted among the reports. */
  addDivergence(project: string, divergence: Divergence): Promise<void>;
  /**
   * While held, as a build runs, nothing is sent; of "due": but for what has waited for its time, or is waited for by
   * somebody. Answers how to let go.
   */
  hold(until?: HeldUntil): () => void;
  state(): OutboxState;
  /** Resolves when nothing is left, or nothing can leave: the state then. */
  drained(signal?: AbortSignal): Promise<OutboxState>;
  /** Bytes of results that were sent since it was opened. */
  readonly sentBytes: number;
}
