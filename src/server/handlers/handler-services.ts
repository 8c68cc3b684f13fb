import type { ChangeFeed } from "../change-feed.ts";
import type { Services } from "../services.ts";

/** Notifies of changes. */
export interface Feeds {
  /** Topics are graphs' ids. */
  readonly graphs: ChangeFeed;
  /** Topics are executions' ids. */
  readonly logs: ChangeFeed;
  readonly executions: ChangeFeed;
  /** Topics are names of suites; a follower of the empty topic gets every change of the lab. */
  readonly benchmarks: ChangeFeed;
}

/** The services that handlers of HTTP endpoints use. */
export interface HandlerServices extends Services {
  readonly feeds: Feeds;
  /** The farm's own address, without a slash at its end. */
  readonly url: string;
}
