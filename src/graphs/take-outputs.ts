import { fromBinary } from "@bufbuild/protobuf";
import { outputOf, wholeDirectoryAt } from "#actions/output-of.ts";
import { treeDigestOf } from "#actions/output-tree.ts";
import type { OutputTrees } from "#actions/output-trees.ts";
import { outputSymlinksOf } from "#actions/result-paths.ts";
import type { Overlay } from "#cas/merge-trees.ts";
import { problemOfPath } from "#cas/path-rules.ts";
import type { TreePart } from "#cas/tree-entry.ts";
import { isServiceLog } from "#core/action-services.ts";
import { Fault } from "#core/fault.ts";
import type { Need } from "#definitions/job-definition.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { NeededOutput } from "./run.store.ts";

/**
 * Returns the outputs that a job uses from a job that it needs, ready to be placed over its files.
 *
 * Throws `failed_precondition` when a named output does not exist, unless the other job may have failed: then the
 * existing outputs are taken.
 */
export async function takeOutputs(
  trees: OutputTrees,
  from: string,
  need: Need,
  made: NeededOutput | undefined,
): Promise<Overlay> {
  const result = made?.result ? fromBinary(ActionResultSchema, made.result) : undefined;
  const paths = need.outputs ?? (result === undefined ? [] : pathsOf(result));
  const at = need.at ?? "";
  const entries: TreePart[] = [];
  for (const path of paths) {
    const found = result === undefined ? undefined : await partsOf(trees, result, path, at);
    if (found === undefined && (need.on ?? "success") === "success") {
      throw new Fault(
        "failed_precondition",
        `job "${from}" did not make "${path}", which this job uses`,
      );
    }
    for (const part of found ?? []) entries.push(part);
  }
  return { at, from: `job "${from}"`, entries };
}

/** An output directory that is taken whole is one part; everything else is read. */
async function partsOf(
  trees: OutputTrees,
  result: ActionResult,
  path: string,
  at: string,
): Promise<readonly TreePart[] | undefined> {
  const directory = wholeDirectoryAt(result, path);
  if (directory && isLegal(path)) {
    const stored = await trees.storeDirectories(treeDigestOf(directory));
    // A path that becomes too long at its place is refused with its own name when the tree is built.
    if (stored && isLegal([at, path, stored.longestPath].filter((p) => p !== "").join("/"))) {
      return [{ kind: "subtree", path, digest: stored.root }];
    }
  }
  return outputOf(trees.store, result, path);
}

function isLegal(path: string): boolean {
  return problemOfPath(path) === undefined;
}

function pathsOf(result: ActionResult): string[] {
  return [...result.outputFiles, ...result.outputDirectories, ...outputSymlinksOf(result)]
    .map(({ path }) => path)
    .filter((path) => !isServiceLog(path));
}
