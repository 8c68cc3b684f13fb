import { anyUnpack, durationMs } from "@bufbuild/protobuf/wkt";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ResourceUsageSchema } from "#proto/grange/worker/v1/worker_pb.ts";

/** The container image that an execution ran in. */
interface ImageOfResult {
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** How long the execution waited until its images were on the machine, in ms; 0 when they were there. */
  readonly pulledMs: number;
}

/** Returns the image that a result's worker reported; undefined without one. */
export function imageOfResult(
  result: Pick<ActionResult, "executionMetadata">,
): ImageOfResult | undefined {
  for (const any of result.executionMetadata?.auxiliaryMetadata ?? []) {
    const usage = anyUnpack(any, ResourceUsageSchema);
    if (usage === undefined || usage.imageDigest === "") continue;
    const { imagePull, imageDigest: digest } = usage;
    return { digest, pulledMs: imagePull === undefined ? 0 : Math.round(durationMs(imagePull)) };
  }
  return undefined;
}
