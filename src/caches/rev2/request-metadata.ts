import { fromBinary } from "@bufbuild/protobuf";
import { keepableText } from "#core/keepable-text.ts";
import type { Metadata } from "#grpc/metadata.ts";
import type { Asking } from "#invocations/asking.ts";
import {
  type RequestMetadata,
  RequestMetadataSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

const header = "build.bazel.remote.execution.v2.requestmetadata-bin";

/** Much longer than the values of tools; longer values are cut. */
const longestId = 256;
const longestName = 1_024;
const longestVersion = 128;

/** Returns the caller's description of itself. It may be missing, and no value is refused. */
export function askingFrom(
  metadata: Metadata,
  known: Pick<Asking, "project" | "principal">,
): Asking {
  const said = requestMetadataIn(metadata);
  return {
    ...known,
    invocation: keepableText(said?.toolInvocationId ?? "", longestId),
    correlatedId: keepableText(said?.correlatedInvocationsId ?? "", longestId),
    toolName: keepableText(said?.toolDetails?.toolName ?? "", longestVersion),
    toolVersion: keepableText(said?.toolDetails?.toolVersion ?? "", longestVersion),
    targetId: keepableText(said?.targetId ?? "", longestName),
    actionMnemonic: keepableText(said?.actionMnemonic ?? "", longestId),
    configurationId: keepableText(said?.configurationId ?? "", longestId),
  };
}

/** Returns a call's description of itself, as received. */
export function requestMetadataIn(metadata: Metadata): RequestMetadata | undefined {
  const bytes = metadata[header];
  if (!(bytes instanceof Uint8Array)) return undefined;
  try {
    return fromBinary(RequestMetadataSchema, bytes);
  } catch {
    // The metadata is optional, so errors in it are no reason to refuse the call.
    return undefined;
  }
}
