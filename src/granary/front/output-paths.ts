import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Returns the paths of an action's outputs. No two actions of a build share a path. */
export function outputPaths(result: ActionResult): string[] {
  const { outputFiles, outputDirectories, outputSymlinks } = result;
  return [...outputFiles, ...outputDirectories, ...outputSymlinks].map(({ path }) => path);
}
