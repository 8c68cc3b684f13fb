import { fromBinary } from "@bufbuild/protobuf";
import { outputOf } from "#actions/output-of.ts";
import { outputSymlinksOf } from "#actions/result-paths.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { Overlay } from "#cas/merge-trees.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import { Fault } from "#core/fault.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Need } from "./definitions/job-definition.ts";
import type { NeededOutput } from "./run.store.ts";

/**
 * What a job takes of one that it needs, ready to be laid over its files.
 *
 * Throws `failed_precondition` when an output that is named is not there, unless
 * the other job may have failed: then what there is, is taken.
 */
export async function takeOutputs(
  store: BlobStore,
  from: string,
  need: Need,
  made: NeededOutput | undefined,
): Promise<Overlay> {
  const result = made?.result ? fromBinary(ActionResultSchema, made.result) : undefined;
  const paths = need.outputs ?? (result === undefined ? [] : pathsOf(result));
  const entries: TreeEntry[] = [];
  for (const path of paths) {
    const found = result === undefined ? undefined : await outputOf(store, result, path);
    if (found === undefined && (need.on ?? "success") === "success") {
      throw new Fault(
        "failed_precondition",
        `job "${from}" did not make "${path}", which this job takes of it`,
      );
    }
    entries.push(...(found ?? []));
  }
  return { at: need.at ?? "", from: `job "${from}"`, entries };
}

function pathsOf(result: ActionResult): string[] {
  return [...result.outputFiles, ...result.outputDirectories, ...outputSymlinksOf(result)].map(
    ({ path }) => path,
  );
}
