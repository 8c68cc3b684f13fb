import type { ExecutionRequest } from "./execution.ts";
import type { EndingLease } from "./settle-leases.ts";
import type { Analyzer } from "./size-class-roles.ts";

/** Asks the analyzer where it has something to say. */
export interface SizeChooser {
  choose(requests: readonly ExecutionRequest[]): Promise<readonly ExecutionRequest[]>;
  /** The lease with what decides whether another class is tried. Asked before rows are locked: it may take time. */
  withLearner(lease: EndingLease): Promise<EndingLease>;
}

export function sizeChooser(analyzer: Analyzer | undefined): SizeChooser {
  if (analyzer === undefined)
    return { choose: async (requests) => requests, withLearner: async (lease) => lease };
  return {
    async choose(requests) {
      const selectors = await analyzer.analyze(requests);
      return requests.map((request, i) => {
        const chosen = selectors[i]?.select();
        return chosen === undefined ? request : { ...request, chosen };
      });
    },

    async withLearner(lease) {
      if (!mayLearn(lease, analyzer)) return lease;
      return { ...lease, learner: await analyzer.learner(lease.lease.executionId) };
    },
  };
}

function mayLearn({ end }: EndingLease, { learnsFromSuccess }: Analyzer): boolean {
  switch (end.kind) {
    case "reported":
      return end.outcome === "succeeded" ? learnsFromSuccess : !end.lacksInputs;
    case "expired":
    case "replaced":
      return true;
    case "released":
    case "cancel-overdue":
      return false;
  }
}
