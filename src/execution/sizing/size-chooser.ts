import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import type { ExecutionRequest } from "../execution.ts";
import type { EndingLease } from "../finishing/decide-endings.ts";
import type { Analyzer, Learner } from "./size-class-roles.ts";
import { soundChoice } from "./sound-choice.ts";

/** Consults the analyzer if it has data. If it fails, executions continue without it. */
export interface SizeChooser {
  choose(requests: readonly ExecutionRequest[]): Promise<readonly ExecutionRequest[]>;
  /**
   * Returns the lease with the learner that decides whether another class is tried. Called before rows are locked,
   * because it may take time.
   */
  withLearner(lease: EndingLease): Promise<EndingLease>;
}

export function sizeChooser(analyzer: Analyzer | undefined, logger: Logger): SizeChooser {
  if (analyzer === undefined)
    return { choose: async (requests) => requests, withLearner: async (lease) => lease };
  const warn = (reason: unknown) =>
    logger.warn(
      { reason: messageOf(reason) },
      "a size class could not be chosen; the execution is queued without one",
    );

  return {
    async choose(requests) {
      try {
        const selectors = await analyzer.analyze(requests);
        return requests.map((request, i) => {
          try {
            const chosen = selectors[i]?.select();
            const sound = chosen && soundChoice(chosen, requestedIn(request));
            return sound === undefined ? request : { ...request, chosen: sound };
          } catch (reason) {
            warn(reason);
            return request;
          }
        });
      } catch (reason) {
        warn(reason);
        return requests;
      }
    },

    async withLearner(lease) {
      if (!mayLearn(lease, analyzer)) return lease;
      try {
        const learner = await analyzer.learner(lease.lease.executionId);
        return learner === undefined
          ? lease
          : { ...lease, learner: withLoggedFailures(learner, warn) };
      } catch (reason) {
        warn(reason);
        return lease;
      }
    },
  };
}

/**
 * Wraps a learner so that its failure is logged: it runs with rows of many leases locked, and none of them may fail
 * because of it.
 */
function withLoggedFailures(learner: Learner, warn: (reason: unknown) => void): Learner {
  return {
    ended(run) {
      try {
        return learner.ended(run);
      } catch (reason) {
        warn(reason);
        return { kind: "final", background: undefined };
      }
    },
  };
}

function requestedIn({ sizeClass, mostSizeClass, timeoutMs }: ExecutionRequest) {
  return { least: sizeClass, most: mostSizeClass, timeoutMs };
}

function mayLearn({ end }: EndingLease, { learnsFromSuccess }: Analyzer): boolean {
  switch (end.kind) {
    case "reported":
      return mayTeach(end.outcome, learnsFromSuccess) && !end.lacksInputs;
    case "expired":
    case "replaced":
      return true;
    case "released":
    case "cancel-overdue":
      return false;
  }
}

function mayTeach(
  outcome: Extract<EndingLease["end"], { kind: "reported" }>["outcome"],
  learnsFromSuccess: boolean,
): boolean {
  if (outcome === "succeeded") return learnsFromSuccess;
  return outcome !== "cancelled" && outcome !== "infrastructure_error";
}
