import { readFile, stat } from "node:fs/promises";
import { create } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOfMany } from "#cas/digest-of.ts";
import type { DigestFunction } from "#core/digest.ts";
import {
  type OutputFile,
  OutputFileSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { digestOfFile } from "../outputs/digest-of-file.ts";
import { type Upload, type UploadTarget, uploadMissing } from "../outputs/upload-outputs.ts";
import type { SecretForms } from "../secrets/log-mask.ts";
import type { OpenServices } from "./open-services.ts";

/** Uploads the logs of services, with secrets hidden, and returns them as outputs. A log that was not begun is left out. */
export async function publishServiceLogs(
  logs: OpenServices["logs"],
  forms: SecretForms | undefined,
  digestFunction: DigestFunction,
  target: UploadTarget,
): Promise<OutputFile[]> {
  const uploads: Upload[] = [];
  const outputs: OutputFile[] = [];
  for (const { path, file } of logs) {
    const size = (await stat(file).catch(() => undefined))?.size;
    if (size === undefined) continue;
    let upload: Upload;
    if (forms === undefined) {
      upload = { digest: await digestOfFile(file, size, digestFunction), path: file };
    } else {
      const bytes = hidden(await readFile(file), forms);
      upload = { digest: await digestOfMany(bytes, digestFunction), bytes };
    }
    uploads.push(upload);
    outputs.push(create(OutputFileSchema, { path, digest: toDigestMessage(upload.digest) }));
  }
  await uploadMissing(target, uploads);
  return outputs;
}

function hidden(log: Buffer, forms: SecretForms): Buffer {
  const mask = forms.mask();
  return Buffer.concat([mask.pass(log), mask.end()]);
}
