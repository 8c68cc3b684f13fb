import { finishResult } from "#caches/rev2/finish-result.ts";
import type { InlineRequests } from "#caches/rev2/inline-outputs.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { type OperationId, operationName } from "#invocations/operation.ts";
import type { OperationUpdate } from "#invocations/operation-service.ts";
import {
  cancelledResponse,
  completed,
  type OperationInit,
  ongoing,
  responseOf,
  unservedResponse,
} from "./execution-service-operation.ts";
import { allMissingOf } from "./read-action.ts";

/** Returns the current state of an operation, with all data that its client needs at its end. */
export async function operationMessage(
  id: OperationId,
  actionDigest: Digest,
  news: OperationUpdate,
  wanted: InlineRequests,
  blobs: BlobStore,
): Promise<OperationInit> {
  const name = operationName(id);
  if (news.kind === "cancelled") {
    const { because } = news;
    const response =
      because === undefined
        ? cancelledResponse("the operation was cancelled")
        : unservedResponse(because);
    return completed(name, actionDigest, response);
  }
  const { finished } = news.view;
  if (finished === undefined) return ongoing(name, news.view);
  const { missingInputs } = finished;
  const missing =
    missingInputs.length === 0 ? [] : await allMissingOf(actionDigest, blobs, missingInputs);
  const response = responseOf(finished, missing);
  if (response.result !== undefined)
    await finishResult(blobs, actionDigest, response.result, wanted);
  return completed(name, actionDigest, response);
}
