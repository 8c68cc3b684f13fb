import { fromBinary } from "@bufbuild/protobuf";
import { findingsOf } from "#actions/findings.ts";
import type { RunOutcome } from "#api/graph.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/**
 * Returns the findings of a run's log as columns of the table of runs.
 *
 * They come with the result, also with a cached one: a hit has the same numbers again.
 */
export function findingColumns(outcome: RunOutcome, result: Uint8Array | undefined) {
  if (result === undefined) return { failure_class: null, error_lines: [], numbers: {} };
  const found = findingsOf(fromBinary(ActionResultSchema, result));
  return {
    // The farm decides how a run ended: a success has no failure class.
    failure_class: outcome === "succeeded" ? null : (found.failureClass ?? null),
    error_lines: found.errorLines,
    numbers: found.numbers,
  };
}
