import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** No build has a step of a month; who says so has a broken clock. */
const mostMs = 30 * 86_400_000;

/** What making a result took, as its metadata says; undefined when it does not. */
export function costOfAction({ executionMetadata: told }: ActionResult): number | undefined {
  if (told === undefined) return undefined;
  return (
    between(told.executionStartTimestamp, told.executionCompletedTimestamp) ??
    between(told.workerStartTimestamp, told.workerCompletedTimestamp)
  );
}

/** Turborepo says with each artifact how long its task ran. */
export function costOfEntry(attributes: Readonly<Record<string, string>>): number | undefined {
  const said = attributes["x-artifact-duration"];
  return said === undefined ? undefined : plausible(Number(said));
}

function between(from: Timestamp | undefined, to: Timestamp | undefined): number | undefined {
  return from && to && plausible(timestampMs(to) - timestampMs(from));
}

function plausible(ms: number): number | undefined {
  return ms >= 0 && ms <= mostMs ? Math.round(ms) : undefined;
}
