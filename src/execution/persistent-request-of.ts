import { anyUnpack } from "@bufbuild/protobuf/wkt";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ResourceUsageSchema } from "#proto/grange/worker/v1/worker_pb.ts";

/**
 * Returns the number of the request, from 1, that a persistent worker process served for an execution, as its worker
 * reported it; 0: it had processes of its own.
 */
export function persistentRequestOf({
  executionMetadata,
}: Pick<ActionResult, "executionMetadata">): number {
  for (const any of executionMetadata?.auxiliaryMetadata ?? []) {
    const usage = anyUnpack(any, ResourceUsageSchema);
    if (usage !== undefined) return Math.max(0, usage.persistentRequest);
  }
  return 0;
}
