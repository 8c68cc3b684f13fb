import { fromDigestMessage } from "#cas/digest-message.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import {
  ActionCache,
  type ActionResult,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Finds a result whose blobs are all here; undefined otherwise. */
export type LookUpResult = (
  instanceName: string,
  actionDigest: Digest,
  context: CallContext,
) => Promise<ActionResult | undefined>;

/** The action cache for those who may read it. Only the farm itself writes results. */
export function actionCacheReader(lookUp: LookUpResult): Method[] {
  return methodsOf(ActionCache, {
    async getActionResult({ instanceName, actionDigest }, context) {
      const digest = fromDigestMessage(actionDigest, "the action");
      const result = await lookUp(instanceName, digest, context);
      if (result === undefined) {
        throw new Fault("not_found", `no result of ${digestKey(digest)} is cached`);
      }
      return result;
    },

    async updateActionResult() {
      throw new Fault("permission_denied", "results come from this farm's workers only");
    },
  });
}
