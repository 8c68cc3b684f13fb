import { fromBinary } from "@bufbuild/protobuf";
import { outputSymlinksOf } from "#actions/result-paths.ts";
import type { ExecutionOutput } from "#api/execution.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { quotePath } from "#cas/path-rules.ts";
import { type DigestFunction, digestKey } from "#core/digest.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Returns the contents of a result, by path; the contents of its directories are in their Trees. */
export function executionOutputs(result: Uint8Array, by: DigestFunction): ExecutionOutput[] {
  const message = fromBinary(ActionResultSchema, result);
  const outputs: ExecutionOutput[] = [
    ...message.outputFiles.map(({ path, digest: told, isExecutable }) => {
      const digest = fromDigestMessage(told, quotePath(path), by);
      return {
        kind: "file" as const,
        path,
        blob: digestKey(digest),
        sizeBytes: digest.sizeBytes,
        executable: isExecutable,
      };
    }),
    ...message.outputDirectories.map(({ path, treeDigest }) => ({
      kind: "directory" as const,
      path,
      tree: digestKey(fromDigestMessage(treeDigest, quotePath(path), by)),
    })),
    ...outputSymlinksOf(message).map(({ path, target }) => ({
      kind: "symlink" as const,
      path,
      target,
    })),
  ];
  return outputs.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
