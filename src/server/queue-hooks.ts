import { fromBinary } from "@bufbuild/protobuf";
import { recordActionResult } from "#actions/action-cache.ts";
import type { OutputTrees } from "#actions/output-trees.ts";
import { missingBlobsOf } from "#actions/result-blobs.ts";
import { together } from "#db/together.ts";
import { spansOfExecutions } from "#execution/execution-span.store.ts";
import type { QueueHooks } from "#execution/queue-hooks.ts";
import { executionsWantedByRuns } from "#graphs/cancel.store.ts";
import type { GraphId } from "#graphs/graph-id.ts";
import { onExecutionsFinished, onExecutionsProgress } from "#graphs/queue-events.ts";
import { assumeServedByNoGraph, graphsServedBy } from "#graphs/run.store.ts";
import { executionsWantedByOperations } from "#invocations/operation.store.ts";
import { noteOperationEnds } from "#invocations/pages/operation-ends.store.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { noteObservations } from "#size-classes/observation.store.ts";
import type { Tracing } from "#tracing/tracing.ts";
import { spansOfExecution } from "./tracing/spans-of-execution.ts";

/**
 * The farm's reactions to changed executions: it stores results and advances graphs.
 *
 * Everything happens in the transaction that changes the executions. Advancing a graph sends its notifications; size
 * classes learn after the commit.
 */
export function queueHooks(
  treesOf: (project: string) => OutputTrees,
  /** Called after the end of executions that size classes can learn from. */
  taught: () => void = () => {},
  /** Called when inputs of an execution were missing in the store. */
  inputsLost: () => void = () => {},
  tracing?: Pick<Tracing, "record">,
): QueueHooks {
  return {
    missingOutputs: (result, digestFunction, project) =>
      missingBlobsOf(treesOf(project), fromBinary(ActionResultSchema, result), digestFunction),

    stillWanted: async (tx, ids) =>
      (
        await together([executionsWantedByRuns(tx, ids), executionsWantedByOperations(tx, ids)])
      ).flat(),

    servedBy: graphsServedBy,
    assumeUnserved: assumeServedByNoGraph,

    async recordResults(tx, finished) {
      await together(
        finished.map(async ({ project, domain, actionDigest, result, id, attempt, worker }) => {
          if (result === undefined) return;
          const made = {
            project,
            domain,
            actionDigest,
            attempt,
            worker,
            executionId: id,
            result: fromBinary(ActionResultSchema, result),
          };
          await recordActionResult(tx, made, treesOf(project).seals);
        }),
      );
    },

    async onFinished(tx, finished, served) {
      if (finished.some(({ missingInputs }) => missingInputs.length > 0)) inputsLost();
      const teaching = finished.filter(({ outcome }) => outcome !== "cancelled");
      const [spans = []] = await together([
        tracing &&
          spansOfExecutions(
            tx,
            finished.map(({ id }) => id),
          ),
        noteOperationEnds(tx, finished),
        onExecutionsFinished(tx, finished, served as readonly GraphId[] | undefined),
        noteObservations(
          tx,
          teaching.map(({ id }) => id),
        ),
      ]);
      if (teaching.length === 0 && spans.length === 0) return undefined;
      return () => {
        if (teaching.length > 0) taught();
        for (const span of spans) {
          const execution = finished.find(({ id }) => id === span.id);
          if (execution !== undefined)
            for (const each of spansOfExecution(execution, span)) tracing?.record(each);
        }
      };
    },

    async onProgress(tx, progress) {
      await onExecutionsProgress(tx, progress);
      return undefined;
    },
  };
}
