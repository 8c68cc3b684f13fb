import { fromBinary } from "@bufbuild/protobuf";
import { findingsOf } from "#actions/findings.ts";
import type { RunOutcome } from "#api/graph.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/**
 * What the rules found in a run's log, as the table of runs keeps it.
 *
 * It comes with the result, also with one from the cache: a hit tells the same numbers again.
 */
export function findingColumns(outcome: RunOutcome, result: Uint8Array | undefined) {
  if (result === undefined) return { failure_class: null, error_lines: [], numbers: {} };
  const found = findingsOf(fromBinary(ActionResultSchema, result));
  return {
    // The farm has the last word on how a run ended: what it counts as good has no class.
    failure_class: outcome === "succeeded" ? null : (found.failureClass ?? null),
    error_lines: found.errorLines,
    numbers: found.numbers,
  };
}
