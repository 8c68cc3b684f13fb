import type { Context } from "hono";
import { stream } from "hono/streaming";
import type { BlobStore } from "#cas/blob-store.ts";
import type { RunOutput } from "#graphs/job-detail.store.ts";
import { asAttachment } from "../http/as-attachment.ts";
import { readRunOutput } from "../run-output.ts";
import { found } from "./found.ts";

/** Answers with one file among the outputs of a run, as an attachment. `name` is that of the run, for messages. */
export async function outputAnswer(
  context: Context,
  blobsOf: (project: string) => BlobStore,
  { output, name }: { readonly output: RunOutput; readonly name: string },
  path: string,
): Promise<Response> {
  const file = found(await readRunOutput(blobsOf, output, path), `output "${path}" of ${name}`);
  asAttachment(context, path, file.digest);
  return stream(context, async (body) => {
    for await (const chunk of file.chunks) await body.write(chunk);
  });
}
