import { fromBinary } from "@bufbuild/protobuf";
import { outputSymlinksOf } from "#actions/result-paths.ts";
import type { RunOutcome } from "#api/graph.ts";
import { digestOf } from "#cas/digest-of.ts";
import { isServiceLog } from "#core/action-services.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/**
 * Returns a short text of what a finished run gives to other jobs: equal texts mean that nothing changed.
 *
 * It covers the outcome and the outputs, but not the log or the times, which differ from run to run and which no job
 * uses. `result` is an REv2 ActionResult, binary.
 */
export function yieldOf(outcome: RunOutcome, result: Uint8Array | undefined): string {
  if (result === undefined) return outcome;
  const { outputFiles, outputDirectories, ...rest } = fromBinary(ActionResultSchema, result);
  const symlinks = outputSymlinksOf({ outputFiles, outputDirectories, ...rest });
  const made = [
    ...outputFiles
      .filter(({ path }) => !isServiceLog(path))
      .map(({ path, digest, isExecutable }) => [path, digest?.hash, isExecutable]),
    ...outputDirectories.map(({ path, treeDigest }) => [path, treeDigest?.hash]),
    ...symlinks.map(({ path, target }) => [path, target]),
  ];
  if (made.length === 0) return outcome;
  const { hash } = digestOf(new TextEncoder().encode(JSON.stringify(made.toSorted(byPath))));
  return `${outcome} ${hash.slice(0, 32)}`;
}

function byPath([a]: readonly unknown[], [b]: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1;
}
