import type { Report } from "#api/benchmark-comparison.ts";
import type { RequestState } from "#api/benchmark-request.ts";
import type { GraphSummary, JobSummary, Run } from "#api/graph.ts";
import type { Tx } from "#db/db.ts";

/** A request to measure something for a pull request, with its progress. */
export interface RequestToTell {
  readonly id: string;
  readonly suite: string;
  readonly artifact: string;
  readonly state: RequestState;
  readonly createdAt: Date;
  /** Undefined while it has not ended. */
  readonly endedAt: Date | undefined;
  /** Jobs or benchmarks that failed. */
  readonly errors: number;
  /** Undefined when there is none yet, or nothing to compare with. */
  readonly report: Report | undefined;
  /** Its page. */
  readonly url: string;
}

export interface FailedJobToTell {
  readonly job: JobSummary;
  /** Its latest run. */
  readonly run: Run | undefined;
  /** Its place in the commit's definitions, if known. Lines count from 1. */
  readonly definedAt: { readonly file: string; readonly line: number } | undefined;
  readonly url: string;
}

export interface GraphToTell {
  readonly graph: GraphSummary;
  readonly failed: readonly FailedJobToTell[];
  /** Names of some more that failed. */
  readonly others: readonly string[];
  readonly url: string;
}

/** The source of reports. Called in the transaction that stores what the forge should show. */
export interface ReportSource {
  /** Undefined: there is no such request (any more). */
  request(tx: Tx, id: string): Promise<RequestToTell | undefined>;
  /** Undefined: there is no such graph (any more). */
  graph(tx: Tx, id: string): Promise<GraphToTell | undefined>;
  /** Returns numbers that change when there may be something new to report; missing for deleted subjects. Cheap. */
  versions(
    tx: Tx,
    subjects: readonly { readonly kind: "graph" | "request"; readonly id: string }[],
  ): Promise<ReadonlyMap<string, string>>;
}
