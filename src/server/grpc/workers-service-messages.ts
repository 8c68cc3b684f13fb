import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type Duration, durationMs, timestampDate } from "@bufbuild/protobuf/wkt";
import { z } from "zod";
import { boundFindings } from "#actions/findings.ts";
import { digestFunctionFrom, fromDigestMessage } from "#cas/digest-message.ts";
import { Fault } from "#core/fault.ts";
import { isKeepable, keepableText } from "#core/keepable-text.ts";
import { Platform } from "#core/platform.ts";
import { ExecutionId } from "#execution/execution.ts";
import type { FinishReport } from "#execution/finishing/judge-report.ts";
import type { Lease } from "#execution/leasing/lease.ts";
import { Transport, type WorkerDescription } from "#execution/leasing/worker.store.ts";
import {
  type ActionResult,
  ActionResultSchema,
  ExecutedActionMetadataSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  type Finished,
  type Lease as LeaseMessage,
  type LeaseSchema,
  Outcome,
  type RegisterRequest,
} from "#proto/grange/worker/v1/worker_pb.ts";

export const WorkerName = z
  .string()
  .regex(
    /^(?!.*\.\.)[A-Za-z0-9._:@/-]{1,128}$/,
    "a worker's name is 1 to 128 letters, digits and . _ : @ / -, without two dots in a row",
  );
export const InstanceId = z
  .string()
  .regex(/^[A-Za-z0-9-]{8,64}$/, "an instance id is 8 to 64 letters, digits and dashes");

/** A text for people; a text that the database cannot store is the worker's error. */
const textOf = (most: number) => z.string().max(most).refine(isKeepable, "it is no text");
/** More than any machine reports; each property is stored in a row and shown in every list of workers. */
const mostProperties = 128;
const few = (properties: Readonly<Record<string, string>>) =>
  Object.keys(properties).length <= mostProperties;
const tooMany = `a worker has at most ${mostProperties} of them`;
const Facilities = z.record(textOf(128), textOf(1_024)).refine(few, tooMany);

/** As many images as a worker lists. */
const mostImages = 64;
export const ImageKeys = z
  .array(z.string().regex(/^[a-f0-9]{16}$/, "a key of an image has 16 hexadecimal digits"))
  .max(mostImages);

const Description = z.object({
  name: WorkerName,
  instanceId: InstanceId,
  platform: Platform.refine(
    (platform) => Object.entries(platform).flat().every(isKeepable),
    "it is no text",
  ).refine(few, tooMany),
  sizeClass: z.number().int().min(1).max(1e6),
  slots: z.number().int().min(1).max(4_096),
  version: textOf(128),
  facilities: Facilities,
  cpus: z.number().positive().max(1e6).nullable(),
  memoryBytes: z.number().int().positive().max(Number.MAX_SAFE_INTEGER).nullable(),
  // An older worker does not send it: such a worker was started by the owner of its machine.
  transport: z
    .literal("")
    .transform((): Transport => "pull")
    .or(Transport),
  host: textOf(253),
  leaseMs: z.number().positive().nullable(),
  images: ImageKeys,
});

export function workerFrom(request: RegisterRequest): WorkerDescription {
  const leaseMs = request.lease === undefined ? null : durationMs(request.lease);
  const { cpus, memoryBytes } = request;
  return parsed(Description, {
    ...request,
    images: request.images?.keys ?? [],
    leaseMs,
    cpus: cpus === 0 ? null : cpus,
    memoryBytes: memoryBytes === 0n ? null : Number(memoryBytes),
  });
}

/** Parses a part of a worker's message. Throws `invalid_argument` with one sentence. */
export function parsed<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Fault("invalid_argument", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}

export function leaseFrom(message: LeaseMessage | undefined): Lease {
  const id = ExecutionId.safeParse(message?.executionId);
  const epoch = Number(message?.epoch ?? 0n);
  const isEpoch = Number.isSafeInteger(epoch) && epoch >= 1;
  if (message === undefined || !id.success || message.attempt < 1 || !isEpoch) {
    throw new Fault("invalid_argument", "a lease must name an execution, an attempt and an epoch");
  }
  return { executionId: id.data, attempt: message.attempt, epoch };
}

export function leaseMessage(lease: Lease): MessageInitShape<typeof LeaseSchema> {
  return { ...lease, epoch: BigInt(lease.epoch) };
}

export function reportFrom(finished: Finished, worker: string): FinishReport {
  const { result, usage } = finished;
  const digestFunction = digestFunctionFrom(finished.digestFunction);
  return {
    lease: leaseFrom(finished.lease),
    outcome: outcomeFrom(finished.outcome),
    exitCode: result?.exitCode,
    startedAt: startIn(result),
    result: result === undefined ? undefined : resultBytes(result, worker),
    usage:
      usage === undefined
        ? undefined
        : {
            userMs: wholeMs(usage.userTime),
            systemMs: wholeMs(usage.systemTime),
            peakMemoryBytes: countable(Number(usage.peakMemoryBytes)),
            measuredBy: keepableText(usage.measuredBy, 64),
          },
    message: finished.message,
    digestFunction,
    missingInputs: finished.missingInputs.map((digest) =>
      fromDigestMessage(digest, "a missing input", digestFunction),
    ),
  };
}

/** Undefined when the result has no start time, or an invalid one. */
function startIn(result: ActionResult | undefined): Date | undefined {
  const at = result?.executionMetadata?.executionStartTimestamp;
  const date = at === undefined ? undefined : timestampDate(at);
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date;
}

/** Clients show the phases of a result only when it names its worker. */
function resultBytes(result: ActionResult, worker: string): Uint8Array {
  const metadata = result.executionMetadata ?? create(ExecutedActionMetadataSchema);
  metadata.worker = worker;
  result.executionMetadata = metadata;
  boundFindings(result);
  return toBinary(ActionResultSchema, result);
}

function outcomeFrom(outcome: Finished["outcome"]): FinishReport["outcome"] {
  switch (outcome) {
    case Outcome.SUCCEEDED:
      return "succeeded";
    case Outcome.FAILED:
      return "failed";
    case Outcome.TIMED_OUT:
      return "timed_out";
    case Outcome.OUT_OF_MEMORY:
      return "out_of_memory";
    case Outcome.CANCELLED:
      return "cancelled";
    case Outcome.INFRASTRUCTURE_ERROR:
      return "infrastructure_error";
    case Outcome.OUTCOME_UNSPECIFIED:
    default:
      // An open enumeration: workers that are newer than this server may send other values.
      throw new Fault("invalid_argument", `this server does not know the outcome ${outcome}`);
  }
}

function wholeMs(duration: Duration | undefined): number {
  return duration === undefined ? 0 : countable(Math.round(durationMs(duration)));
}

/** Returns a number that the database can store: a wrong measurement must not prevent storing a result. */
function countable(amount: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, amount));
}
