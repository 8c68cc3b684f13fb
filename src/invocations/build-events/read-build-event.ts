import { fromBinary } from "@bufbuild/protobuf";
import { anyIs } from "@bufbuild/protobuf/wkt";
import { defaultProject } from "#core/default-project.ts";
import { Fault } from "#core/fault.ts";
import { withoutPasswords } from "#core/hide-secrets.ts";
import { keepableText } from "#core/keepable-text.ts";
import { BuildEventSchema as BazelEventSchema } from "#proto/build_event_stream/build_event_stream_pb.ts";
import {
  type BuildEvent,
  BuildEvent_BuildComponentStreamFinished_FinishType as FinishType,
} from "#proto/google/devtools/build/v1/build_events_pb.ts";
import { BuildStatus_Result } from "#proto/google/devtools/build/v1/build_status_pb.ts";
import { longest, most } from "./build-bounds.ts";
import type { BuildUpdate } from "./build-update.ts";
import { nameOfNumber } from "./name-of-number.ts";
import { readBazelEvent } from "./read-bazel-event.ts";

/** Converts an event; throws `invalid_argument` when it is not one. */
export function readBuildEvent(
  message: BuildEvent | undefined,
  project = defaultProject,
): BuildUpdate[] {
  const event = message?.event;
  switch (event?.case) {
    case "bazelEvent":
      // Another type belongs to another tool, or to a future version.
      if (!anyIs(event.value, BazelEventSchema)) return [];
      return readBazelEvent(decoded(event.value.value), project);
    case "consoleOutput": {
      const bytes = event.value.output.value ?? new Uint8Array();
      return bytes.length === 0 ? [] : [{ kind: "printed", bytes }];
    }
    case "componentStreamFinished":
      return event.value.type === FinishType.FINISHED ? [{ kind: "complete" }] : [];
    case "invocationAttemptFinished":
      return readResult(event.value.invocationStatus?.result);
    case "invocationAttemptStarted":
    case "buildEnqueued":
    case "buildFinished":
    case undefined:
      return [];
  }
}

/** Keywords are sent beside the first event. */
export function readKeywords(keywords: readonly string[]): BuildUpdate[] {
  if (keywords.length === 0) return [];
  return [
    {
      kind: "keywords",
      keywords: keywords
        .slice(0, most.pairs)
        .map((keyword) => keepableText(withoutPasswords(keyword), longest.value)),
    },
  ];
}

function decoded(bytes: Uint8Array) {
  try {
    return fromBinary(BazelEventSchema, bytes, { readUnknownFields: false });
  } catch (cause) {
    throw new Fault("invalid_argument", "a bazel_event is not a build_event_stream.BuildEvent", {
      cause,
    });
  }
}

function readResult(result: BuildStatus_Result | undefined): BuildUpdate[] {
  const name = result === undefined ? undefined : nameOfNumber(BuildStatus_Result, result);
  return name === undefined || result === BuildStatus_Result.UNKNOWN_STATUS
    ? []
    : [{ kind: "result", result: name }];
}
