import type { Principal } from "#access/principal.ts";
import type { CancelledGraph, CancelledJob } from "#api/cancel.ts";
import type {
  Graph,
  GraphDelta,
  GraphSummary,
  JobDetail,
  Repository,
  SubmitGraph,
  SubmittedGraph,
} from "#api/graph.ts";
import type { Digest } from "#core/digest.ts";
import type { Ticket } from "../change-feed.ts";
import type { CatalogFarm } from "./catalog-farm.ts";
import type { ForgeFarm } from "./forge-farm.ts";
import type { ManifestFarm } from "./manifest-farm.ts";
import type { KnowsCallers } from "./principal.ts";
import type { SearchFarm } from "./search-farm.ts";
import type { SignInFarm } from "./sign-in-farm.ts";
import type { TimesFarm } from "./times-farm.ts";
import type { WaitingFarm } from "./waiting-farm.ts";

/** Where a list goes on, and how much of it to send. */
export interface Page {
  readonly limit: number;
  /** The id of the last one that the client has. */
  readonly before: string | undefined;
}

/** A piece of a run's log. Offsets are bytes from the log's beginning. */
export interface LogPiece {
  readonly bytes: Uint8Array;
  readonly nextOffset: number;
  /** Nothing will follow. */
  readonly complete: boolean;
  /** Changes when it becomes another attempt's log, which begins anew. */
  readonly attempt: number;
}

export interface RunName {
  readonly graphId: string;
  readonly job: string;
  readonly number: number;
  /** Of a chunked job's run: the batch whose log is meant. */
  readonly batch?: number;
}

/**
 * What the HTTP API offers, in the words of the farm.
 *
 * Reads answer undefined when there is no such thing. Bound to the services in
 * `assemble.ts`; the routes know nothing behind it.
 */
export interface Farm
  extends KnowsCallers,
    CatalogFarm,
    WaitingFarm,
    ManifestFarm,
    SearchFarm,
    TimesFarm,
    ForgeFarm,
    SignInFarm {
  repositories(): Promise<Repository[]>;
  graphs(repository: string | undefined, page: Page, commit?: string): Promise<GraphSummary[]>;
  submitGraph(
    request: SubmitGraph,
    by: Principal,
  ): Promise<SubmittedGraph & { readonly isNew: boolean }>;
  /** Takes an id or a unique beginning of one, or `latest`. */
  findGraph(prefix: string): Promise<string | undefined>;
  graph(id: string): Promise<Graph | undefined>;
  graphSummary(id: string): Promise<GraphSummary | undefined>;
  /** All that changed after `since`; undefined when there is no such graph. */
  graphDelta(id: string, since: number): Promise<GraphDelta | undefined>;
  cancelGraph(id: string, by: Principal): Promise<CancelledGraph | undefined>;
  job(graphId: string, name: string): Promise<JobDetail | undefined>;
  cancelJob(graphId: string, name: string, by: Principal): Promise<CancelledJob | undefined>;
  log(run: RunName, offset: number, most: number): Promise<LogPiece | undefined>;
  output(
    run: RunName,
    path: string,
  ): Promise<{ readonly digest: Digest; readonly chunks: AsyncIterable<Uint8Array> } | undefined>;
  /** Tickets for what changes: a graph by its id, `""` for any graph. */
  graphChanges(topic: string): Ticket;
  /** Tickets for new log bytes, by execution; `""` when the run has none. */
  logChanges(run: RunName): Promise<Ticket>;
}
