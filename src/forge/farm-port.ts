import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { SubmitBenchmarkRequest, SubmittedRequest } from "#api/benchmark-request.ts";
import type { GraphSummary } from "#api/graph.ts";

/** A graph that a forge is the reason for. */
export interface GraphToMake {
  /** Of (repository, ref, commit, named graph): making it twice is making it once. */
  readonly id: string;
  /** What is fetched, with what it takes to be let in; and as it may be shown. */
  readonly address: string;
  readonly url: string;
  /** `refs/heads/main`, `refs/tags/v1`, `refs/pull/7/head`: says, with the repository, in which trust domain it runs. */
  readonly ref: string;
  readonly sha: string;
  /** The named graph, where the policy names one. */
  readonly named: string | undefined;
  /** What its definitions may ask for, when the commit is of somebody who may not write here. */
  readonly outsiders: OutsiderRules | undefined;
}

/** What jobs of pull requests from forks may ask for; nothing else that reaches beyond their graph. */
export interface OutsiderRules {
  readonly network: boolean;
  /** Property of a platform → patterns of values. */
  readonly platform: Readonly<Record<string, readonly string[]>>;
}

/** What somebody's `retrigger` came to. */
export interface Retriggered {
  readonly jobs: readonly string[];
}

/**
 * The farm, as far as forges need it; bound in the server.
 *
 * Everything may be asked twice: a server that died asks again for what it had asked.
 * What is refused for good is thrown as a Fault that will not pass (`isForGood`).
 */
export interface FarmPort {
  /** What graphs call the repository at an address; it is known from now on. */
  nameRepository(url: string): Promise<string>;

  submitGraph(wanted: GraphToMake, by: Principal): Promise<{ readonly isNew: boolean }>;
  graph(id: string): Promise<GraphSummary | undefined>;
  /** One that is over, or unknown, stays so. */
  cancelGraph(id: string, by: Principal): Promise<void>;
  /**
   * Runs jobs of a selection (`state:failed`) again, with what was skipped because of them. `once` names the wish:
   * asked for again, it is answered as it was, and nothing runs.
   */
  retrigger(id: string, selection: string, by: Principal, once: string): Promise<Retriggered>;

  requestBenchmark(
    wanted: SubmitBenchmarkRequest,
    by: Principal,
  ): Promise<z.infer<typeof SubmittedRequest>>;
  /** False: it is over already, or unknown. */
  cancelBenchmark(id: string, by: Principal): Promise<boolean>;

  /** Somebody at a forge, with the grants that the farm gives to that name (`principalNameOf`). */
  grantsOf(principal: string): Promise<Principal["grants"]>;
  /** The farm's own address, for links. */
  readonly url: string;
}
