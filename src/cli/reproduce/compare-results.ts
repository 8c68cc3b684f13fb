import type { ExecutionOutput } from "#api/execution.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { type DigestFunction, digestKey } from "#core/digest.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** What an execution came to, on the farm or here. */
interface ComparedResult {
  readonly exitCode: number | null;
  readonly outputs: readonly ExecutionOutput[];
}

/** Returns what differs between two results, in sentences; empty when they are equal. */
export function compareResults(farm: ComparedResult, here: ComparedResult): string[] {
  const [there, own] = [byPath(farm.outputs), byPath(here.outputs)];
  return [
    ...(farm.exitCode === here.exitCode
      ? []
      : [`exit code: ${farm.exitCode ?? "none"} on the farm, ${here.exitCode ?? "none"} here`]),
    ...[...new Set([...there.keys(), ...own.keys()])].toSorted().flatMap((path) => {
      const [a, b] = [there.get(path), own.get(path)];
      if (a === b) return [];
      if (a === undefined) return [`${path}: only made here`];
      if (b === undefined) return [`${path}: only made on the farm`];
      return [`${path}: ${a} on the farm, ${b} here`];
    }),
  ];
}

/** Equal texts mean equal outputs. */
function byPath(outputs: readonly ExecutionOutput[]): Map<string, string> {
  return new Map(
    outputs.map((output) => {
      switch (output.kind) {
        case "file":
          return [output.path, `file ${output.blob}${output.executable ? ", executable" : ""}`];
        case "directory":
          return [output.path, `directory ${output.tree}`];
        case "symlink":
          return [output.path, `link to ${output.target}`];
      }
    }),
  );
}

/** Returns the outputs of an action result as the API shows them. */
export function outputsOf(result: ActionResult, by: DigestFunction): ExecutionOutput[] {
  const { outputFiles, outputDirectories, outputSymlinks } = result;
  return [
    ...outputFiles.map((file): ExecutionOutput => {
      const digest = fromDigestMessage(file.digest, file.path, by);
      return {
        kind: "file",
        path: file.path,
        blob: digestKey(digest),
        sizeBytes: digest.sizeBytes,
        executable: file.isExecutable,
      };
    }),
    ...outputDirectories.map(
      ({ path, treeDigest }): ExecutionOutput => ({
        kind: "directory",
        path,
        tree: digestKey(fromDigestMessage(treeDigest, path, by)),
      }),
    ),
    ...outputSymlinks.map(
      ({ path, target }): ExecutionOutput => ({ kind: "symlink", path, target }),
    ),
  ];
}
