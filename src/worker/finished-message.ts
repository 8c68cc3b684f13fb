import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { toDigestMessage } from "#cas/digest-message.ts";
import { Fault, messageOf } from "#core/fault.ts";
import {
  type Finished,
  FinishedSchema,
  Outcome,
  type Usage,
  UsageSchema,
  type Work,
} from "#proto/grange/worker/v1/worker_pb.ts";
import { InputsMissing } from "./inputs-missing.ts";
import type { TreeUsage } from "./limits/limits.ts";

export function usageMessage(usage: TreeUsage): Usage {
  return create(UsageSchema, {
    userTime: durationFromMs(Math.round(usage.userMs)),
    systemTime: durationFromMs(Math.round(usage.systemMs)),
    peakMemoryBytes: BigInt(usage.peakMemoryBytes),
    measuredBy: usage.measuredBy,
  });
}

/** Returns the report of an execution that started no process, or whose outputs could not be stored. */
export function finishedWithoutProcess(work: Work, reason: unknown, cancelled: boolean): Finished {
  const finished = create(FinishedSchema, {
    ...(work.lease ? { lease: work.lease } : {}),
    outcome: cancelled ? Outcome.CANCELLED : outcomeOf(reason),
    digestFunction: work.digestFunction,
    message: cancelled ? "it was cancelled" : messageOf(reason),
  });
  if (reason instanceof InputsMissing) finished.missingInputs = reason.digests.map(toDigestMessage);
  return finished;
}

/** An invalid action fails on every machine; other failures may not occur elsewhere. */
function outcomeOf(reason: unknown): Outcome {
  const isWrong = reason instanceof Fault && reason.code === "invalid_argument";
  return isWrong ? Outcome.FAILED : Outcome.INFRASTRUCTURE_ERROR;
}
