import { readFile } from "node:fs/promises";
import { toDigestMessage } from "#cas/digest-message.ts";
import type { DigestFunction } from "#core/digest.ts";
import type { ActionResult } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { digestOfFile } from "../outputs/digest-of-file.ts";
import { type Upload, type UploadTarget, uploadMissing } from "../outputs/upload-outputs.ts";
import type { CapturedLog } from "./captured-log.ts";

/** Logs up to this size are also in the result itself, so that readers need one call less. */
const rawUpToBytes = 16 * 1024;

/** Uploads both logs completely, and adds them to the result. */
export async function publishLogs(
  logs: { readonly stdout: CapturedLog; readonly stderr: CapturedLog },
  digestFunction: DigestFunction,
  target: UploadTarget,
  result: ActionResult,
): Promise<void> {
  const uploads: Upload[] = [];
  for (const name of ["stdout", "stderr"] as const) {
    const { path, sizeBytes } = logs[name];
    if (sizeBytes === 0) continue;
    const digest = await digestOfFile(path, sizeBytes, digestFunction);
    uploads.push({ digest, path });
    const raw = sizeBytes <= rawUpToBytes ? await readFile(path) : undefined;
    if (name === "stdout") {
      result.stdoutDigest = toDigestMessage(digest);
      if (raw) result.stdoutRaw = raw;
    } else {
      result.stderrDigest = toDigestMessage(digest);
      if (raw) result.stderrRaw = raw;
    }
  }
  await uploadMissing(target, uploads);
}
