import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { SubmitBenchmarkRequest, SubmittedRequest } from "#api/benchmark-request.ts";
import type { GraphSummary } from "#api/graph.ts";
import type { IsolationLevel } from "#core/isolation-level.ts";

/** A graph that is made because of a forge. */
export interface GraphToMake {
  /** Derived from (repository, ref, commit, named graph), so that making it twice has no further effect. */
  readonly id: string;
  /** The address to fetch, with its credentials; and the one that may be shown. */
  readonly address: string;
  readonly url: string;
  /**
   * `refs/heads/main`, `refs/tags/v1`, `refs/pull/7/head`: together with the repository, it determines the trust
   * domain.
   */
  readonly ref: string;
  readonly sha: string;
  /** The named graph, if the policy names one. */
  readonly named: string | undefined;
  /** The limits for its definitions, when the author of the commit may not write here. */
  readonly outsiders: OutsiderRules | undefined;
}

/** The limits for jobs of pull requests from forks, which may not use anything else outside their graph. */
interface OutsiderRules {
  readonly network: boolean;
  /** Property of a platform → patterns of values. */
  readonly platform: Readonly<Record<string, readonly string[]>>;
  /** The least isolation of their jobs; undefined: any. */
  readonly isolation: IsolationLevel | undefined;
}

/** The result of a `retrigger`. */
interface Retriggered {
  readonly jobs: readonly string[];
}

/**
 * The parts of the farm that forges need; bound in the server.
 *
 * All calls may be repeated, because a restarted server repeats them. A permanent refusal is thrown as a Fault
 * (`isForGood`).
 */
export interface FarmPort {
  /** Returns the name that graphs use for the repository at an address, and stores it if it is new. */
  nameRepository(url: string): Promise<string>;

  submitGraph(wanted: GraphToMake, by: Principal): Promise<{ readonly isNew: boolean }>;
  graph(id: string): Promise<GraphSummary | undefined>;
  /** A graph that has ended or is unknown does not change. */
  cancelGraph(id: string, by: Principal): Promise<void>;
  /**
   * Runs jobs of a selection (`state:failed`) again, with the jobs that were skipped because of them. `once` identifies
   * the request: a repeated one gets the same answer, and nothing runs.
   */
  retrigger(id: string, selection: string, by: Principal, once: string): Promise<Retriggered>;

  requestBenchmark(
    wanted: SubmitBenchmarkRequest,
    by: Principal,
  ): Promise<z.infer<typeof SubmittedRequest>>;
  /** Returns false when it has already ended or is unknown. */
  cancelBenchmark(id: string, by: Principal): Promise<boolean>;

  /** Returns a user of a forge with the farm's grants for that name (`principalNameOf`). */
  grantsOf(principal: string): Promise<Principal["grants"]>;
  /** The farm's own address, for links. */
  readonly url: string;
}
