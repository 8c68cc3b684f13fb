import { fromBinary } from "@bufbuild/protobuf";
import { recordActionResult } from "#actions/action-cache.ts";
import type { OutputTrees } from "#actions/output-trees.ts";
import { missingBlobsOf } from "#actions/result-blobs.ts";
import type { QueueHooks } from "#execution/queue-hooks.ts";
import { onExecutionsFinished, onExecutionsProgress } from "#graphs/queue-events.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/**
 * What happens with executions that move: results are kept, graphs advance.
 *
 * All of it in the transaction that moves them. Advancing a graph notifies by
 * itself, so there is nothing left to do after the commit.
 */
export function queueHooks(trees: OutputTrees): QueueHooks {
  return {
    missingOutputs: (result) => missingBlobsOf(trees, fromBinary(ActionResultSchema, result)),

    async recordResults(tx, finished) {
      for (const { project, domain, actionDigest, result, id, attempt } of finished) {
        if (result === undefined) continue;
        await recordActionResult(tx, {
          project,
          domain,
          actionDigest,
          attempt,
          executionId: id,
          result: fromBinary(ActionResultSchema, result),
        });
      }
    },

    async onFinished(tx, finished) {
      await onExecutionsFinished(tx, finished);
      return undefined;
    },

    async onProgress(tx, progress) {
      await onExecutionsProgress(tx, progress);
      return undefined;
    },
  };
}
