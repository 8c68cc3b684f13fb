import { fromBinary } from "@bufbuild/protobuf";
import { outputOf } from "#actions/output-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { RunOutput } from "#graphs/job-detail.store.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Returns the blobs of a project. */
type BlobsOf = (project: string) => BlobStore;

/** Returns the digest of one file among a run's outputs; it may be inside an output directory. */
export async function findRunOutput(
  blobsOf: BlobsOf,
  run: RunOutput,
  path: string,
): Promise<Digest | undefined> {
  if (run.result === null) return undefined;
  const entries = await outputOf(
    blobsOf(run.project),
    fromBinary(ActionResultSchema, run.result),
    path,
  );
  const [entry] = entries ?? [];
  if (entry === undefined) return undefined;
  if (entry.kind !== "file" || entry.path !== path) {
    throw new Fault("failed_precondition", `"${path}" is not a file; name a file in it`);
  }
  return entry.digest;
}

/** Returns the bytes of one file among a run's outputs; it may be inside an output directory. */
export async function readRunOutput(
  blobsOf: BlobsOf,
  run: RunOutput,
  path: string,
): Promise<{ readonly digest: Digest; readonly chunks: AsyncIterable<Uint8Array> } | undefined> {
  const digest = await findRunOutput(blobsOf, run, path);
  if (digest === undefined) return undefined;
  const chunks = await blobsOf(run.project).read(digest);
  if (chunks === undefined) {
    throw new Fault("not_found", `"${path}" is no longer stored; run the job again`);
  }
  return { digest, chunks };
}
