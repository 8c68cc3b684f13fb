import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { type Any, anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { POSIXResourceUsageSchema } from "#proto/buildbarn/resourceusage/resourceusage_pb.ts";
import { ResourceUsageSchema } from "#proto/grange/worker/v1/worker_pb.ts";

/** The longest text in either message is the name of a signal or of a way to measure. */
const longestText = 32;

/** Returns the resource messages of a result with their numbers only, one of each kind. */
export function boundedResources(result: ActionResult): Any[] {
  return [
    ...bounded(POSIXResourceUsageSchema, result, ({ terminationSignal }) =>
      isPlain(terminationSignal),
    ),
    ...bounded(
      ResourceUsageSchema,
      result,
      ({ measuredBy, imageDigest }) => isPlain(measuredBy) && isImageDigest(imageDigest),
    ),
  ];
}

function bounded<Schema extends DescMessage>(
  schema: Schema,
  result: ActionResult,
  isLegal: (message: MessageShape<Schema>) => boolean,
): Any[] {
  for (const any of result.executionMetadata?.auxiliaryMetadata ?? []) {
    try {
      const message = anyUnpack(any, schema);
      if (message === undefined) continue;
      // Unknown fields may contain anything.
      const { $unknown: _, ...known } = message;
      if (isLegal(message)) return [anyPack(schema, create(schema, known as never))];
    } catch {
      // Bytes that do not parse as a message are dropped.
    }
  }
  return [];
}

function isImageDigest(text: string): boolean {
  return text === "" || /^sha256:[a-f0-9]{64}$/.test(text);
}

function isPlain(text: string): boolean {
  return text.length <= longestText && /^[\w.-]*$/.test(text);
}
