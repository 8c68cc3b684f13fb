import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate, timestampNow } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "#cas/blob-store.ts";
import { Fault, messageOf } from "#core/fault.ts";
import {
  type ActionResult,
  ActionResultSchema,
  type ExecutedActionMetadata,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  type Finished,
  FinishedSchema,
  Outcome,
  type Work,
} from "#proto/grange/worker/v1/worker_pb.ts";
import type { ActionRequest } from "./action-request.ts";
import type { Fetched } from "./counting-fetches.ts";
import type { Clearing } from "./execution-cleanups.ts";
import { usageMessage } from "./finished-message.ts";
import type { ImageToRun } from "./image/oci/open-images.ts";
import type { InputRoot } from "./input-root/input-root.ts";
import type { LogJudge } from "./judge/log-judge.ts";
import { judgeOutcome } from "./judge-outcome.ts";
import type { Limits } from "./limits/limits.ts";
import { publishLogs } from "./logs/publish-logs.ts";
import type { Machine } from "./machine.ts";
import { type CollectedOutputs, collectOutputs } from "./outputs/collect-outputs.ts";
import { declaredOutputs } from "./outputs/declared-outputs.ts";
import { outputLimitsWithin } from "./outputs/output-limits.ts";
import { wantedProperties } from "./outputs/output-properties.ts";
import { publishOutputs } from "./outputs/upload-outputs.ts";
import { resourceMessages } from "./resource-messages.ts";
import type { ProcessEnd } from "./run-process.ts";
import type { SecretForms } from "./secrets/log-mask.ts";
import type { OpenServices } from "./services/open-services.ts";
import { publishServiceLogs } from "./services/publish-service-logs.ts";

/** A process that has ended, and what is known of it. */
interface Ran {
  readonly root: InputRoot;
  readonly end: ProcessEnd;
  readonly judge: LogJudge | undefined;
  readonly fetched: Fetched;
  readonly image: ImageToRun | undefined;
  readonly services: OpenServices | undefined;
  /** The forms in which secrets may appear in logs. */
  readonly forms: SecretForms | undefined;
  /** Absent unless a persistent worker process served it. */
  readonly persistentRequest?: number;
}

/** An action for which a process has run. */
export interface RunJob {
  readonly work: Work;
  readonly request: ActionRequest;
  readonly limits: Limits;
  readonly farm: BlobStore;
  readonly watch: { readonly stop: AbortSignal };
  readonly metadata: ExecutedActionMetadata;
  readonly clearing: Clearing;
}

/** What a report needs of the worker. */
export interface ReportParts extends Pick<Machine, "retryWindow" | "local"> {
  readonly limits: Parameters<typeof outputLimitsWithin>[1];
}

/** Uploads what an action printed and made, and returns its outcome. Rejects when the action must stop. */
export async function reportExecution(
  ran: Ran,
  job: RunJob,
  parts: ReportParts,
): Promise<Finished> {
  const { root, end, judge, fetched, image, services, forms, persistentRequest } = ran;
  const { work, request, farm, watch, metadata, clearing } = job;
  metadata.executionStartTimestamp = timestampFromDate(end.startedAt);
  metadata.executionCompletedTimestamp = timestampFromDate(end.endedAt);
  metadata.virtualExecutionDuration = durationFromMs(
    end.endedAt.getTime() - end.startedAt.getTime(),
  );
  metadata.outputUploadStartTimestamp = timestampNow();
  const result = create(ActionResultSchema, {
    exitCode: end.exitCode,
    executionMetadata: metadata,
  });

  const { retryWindow, local } = parts;
  // The logs of a cancelled execution are still needed; their size is limited.
  const signal = watch.stop.aborted ? undefined : watch.stop;
  const target = { farm, retryWindow, ...(signal && { signal }) };
  await uploading(() => publishLogs(end, request.digestFunction, target, result));
  const outputs =
    end.stopped === "cancelled"
      ? undefined
      : await unlessCancelled(watch.stop, () => collect(root, job, result, parts));
  const collected = outputs ?? nothing;
  await uploading(async () => {
    const { logs = [] } = services ?? {};
    const found = await publishServiceLogs(logs, forms, request.digestFunction, target);
    result.outputFiles.push(...found);
  });
  clearing.steps.push(async () => {
    for (const file of collected.files) await local.adopt(join(root.made, file.at), file);
  });
  metadata.outputUploadCompletedTimestamp = timestampNow();
  metadata.workerCompletedTimestamp = timestampNow();

  const { memoryBytes, processes, diskBytes } = job.limits;
  const ownMemoryBytes = request.limits.memoryBytes;
  const allowed = {
    timeoutMs: request.timeoutMs,
    memoryBytes,
    ownMemoryBytes,
    processes,
    diskBytes,
  };
  const stopped = outputs === undefined ? "cancelled" : end.stopped;
  const ended = judgeOutcome({ ...end, stopped }, allowed, collected.missing);
  const judged = await judge?.conclude({ ...ended, exitCode: end.exitCode }, (line) =>
    end.stdout.storedLine(line),
  );
  metadata.auxiliaryMetadata = [
    ...(judged === undefined ? [] : [judged.findings]),
    ...resourceMessages(end, root, fetched, image, persistentRequest),
  ];
  const verdict = judged ?? ended;
  const [refused] = collected.refused;
  const failedByOutputs = refused !== undefined && verdict.outcome === Outcome.SUCCEEDED;
  return create(FinishedSchema, {
    ...(work.lease ? { lease: work.lease } : {}),
    outcome: failedByOutputs ? Outcome.FAILED : verdict.outcome,
    message: failedByOutputs ? refused : verdict.message,
    result,
    digestFunction: work.digestFunction,
    // What a shared process used must not teach what such an action needs.
    ...(persistentRequest === undefined ? { usage: usageMessage(end.usage) } : {}),
  });
}

/** Finds and uploads the outputs. Rejects when the action must stop. */
async function collect(
  root: InputRoot,
  job: RunJob,
  result: ActionResult,
  { limits: most, retryWindow }: ReportParts,
): Promise<CollectedOutputs> {
  const { farm, watch } = job;
  const { command, digestFunction, limits } = job.request;
  const signal = watch.stop;
  const collected = await collectOutputs(root.seen, declaredOutputs(command), {
    digestFunction,
    properties: wantedProperties(command.outputNodeProperties),
    limits: outputLimitsWithin(limits.outputBytes, most),
    signal,
  });
  const target = { farm, retryWindow, signal };
  const format = command.outputDirectoryFormat;
  await uploading(() => publishOutputs(root.seen, collected, format, target, result));
  return collected;
}

const nothing: CollectedOutputs = { outputs: [], files: [], missing: [], refused: [] };

/** Returns undefined when the action is cancelled before the work is done. */
async function unlessCancelled<Result>(
  stop: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (reason) {
    if (stop.aborted && stop.reason === "cancelled") return undefined;
    throw reason;
  }
}

/** The action is not the cause of any error that the farm reports about an upload. */
async function uploading(upload: () => Promise<void>): Promise<void> {
  try {
    await upload();
  } catch (reason) {
    throw new Fault("unavailable", `the outputs cannot be uploaded: ${messageOf(reason)}`, {
      cause: reason,
    });
  }
}
