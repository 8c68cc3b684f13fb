import { isComplete } from "#actions/result-blobs.ts";
import { assertLegalOutputs } from "#actions/result-paths.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { asActionResult } from "./as-action-result.ts";
import { resultKey } from "./bazel-rules.ts";
import type { EntriesWithResults } from "./result-under.ts";

/**
 * Returns a result that a client wrote over HTTP, for clients of gRPC.
 *
 * HTTP accepts any bytes as a result; here, only those that a client could have written over gRPC. A text that
 * accidentally parses as a message refers to no output in the store.
 */
export async function resultPutFor(
  { treesOf, mostResultBytes, find, valueOf }: EntriesWithResults,
  project: string,
  action: Digest,
  reader: TrustDomain,
): Promise<ActionResult | undefined> {
  if (functionOf(action) !== "sha256") return undefined;
  const entry = await find({ project, tool: "bazel", key: resultKey(action.hash), reader });
  if (entry === undefined || entry.digest.sizeBytes > mostResultBytes) return undefined;
  const value = await valueOf(entry, {});
  const result = value?.kind === "bytes" ? asActionResult(value.bytes) : undefined;
  if (result === undefined || !isUsable(result)) return undefined;
  return (await isComplete(treesOf(project), result, "sha256")) ? result : undefined;
}

function isUsable(result: ActionResult): boolean {
  const { exitCode, outputFiles, outputDirectories } = result;
  if (exitCode !== 0 || outputFiles.length + outputDirectories.length === 0) return false;
  try {
    assertLegalOutputs(result);
    return true;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "invalid_argument") return false;
    throw reason;
  }
}
