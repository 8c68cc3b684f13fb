import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/**
 * The limit for a cost, in ms. No step of a build takes a month; a longer time comes from a wrong
 * clock.
 */
const mostMs = 30 * 86_400_000;

/** Returns how long making a result took, by its metadata; undefined without it. */
export function costOfAction({ executionMetadata: told }: ActionResult): number | undefined {
  if (told === undefined) return undefined;
  return (
    between(told.executionStartTimestamp, told.executionCompletedTimestamp) ??
    between(told.workerStartTimestamp, told.workerCompletedTimestamp)
  );
}

/** Turborepo reports with each artifact how long its task ran. */
export function costOfEntry(attributes: Readonly<Record<string, string>>): number | undefined {
  const durationText = attributes["x-artifact-duration"];
  return durationText === undefined ? undefined : plausible(Number(durationText));
}

function between(from: Timestamp | undefined, to: Timestamp | undefined): number | undefined {
  return from && to && plausible(timestampMs(to) - timestampMs(from));
}

function plausible(ms: number): number | undefined {
  return ms >= 0 && ms <= mostMs ? Math.round(ms) : undefined;
}
