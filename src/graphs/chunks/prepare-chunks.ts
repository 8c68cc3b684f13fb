import { fromBinary } from "@bufbuild/protobuf";
import { outputOf } from "#actions/output-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { Chunks } from "#definitions/chunk-keys.ts";
import { parseDuration } from "#definitions/duration.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { buildAction } from "../build-action.ts";
import type { ReadyJob } from "../ready-job.store.ts";
import type { ResolvedImages } from "../resolved-image.ts";
import { latestResults } from "../run.store.ts";
import { itemHistory, type NewChunkedRun } from "./chunked-run.store.ts";
import { estimateItems } from "./estimate-items.ts";
import { readItems } from "./read-items.ts";

/** A list of 100,000 items has some megabytes. */
const mostListBytes = 16 * 1024 * 1024;
const usual = { min: 1, max: 10, budgetMs: 60_000 };

/** A chunked job whose run can begin. */
export interface PreparedChunks {
  readonly kind: "items";
  readonly run: NewChunkedRun;
}

/** Determines the items of a chunked job, and their expected durations. Throws `failed_precondition`. */
export async function prepareChunks(
  { db, store }: { readonly db: Db; readonly store: BlobStore },
  job: ReadyJob,
  chunks: Chunks,
  inputRoot: Digest,
  images: ResolvedImages,
): Promise<PreparedChunks> {
  const items = chunks.items ?? (await itemsFrom(db, store, job, chunks));
  const { graphId } = job;
  const { platform, sizeClasses } = buildAction(job.definition, inputRoot);
  const min = chunks.min ?? usual.min;
  return {
    kind: "items",
    run: {
      graphId,
      job: job.job,
      items: estimateItems(items, await itemHistory(db, graphId, job.job)),
      inputRoot,
      platform,
      sizeClass: sizeClasses.least,
      min,
      max: chunks.max ?? Math.max(usual.max, min),
      budgetMs: parseDuration(chunks.budget ?? "") ?? usual.budgetMs,
      retries: job.definition.retries ?? 0,
      // A request for another run after a success requires execution.
      skipCache: job.skipCache || job.cause === "retrigger",
      images,
    },
  };
}

async function itemsFrom(
  db: Db,
  store: BlobStore,
  job: ReadyJob,
  { from }: Chunks,
): Promise<string[]> {
  if (from === undefined) throw new Fault("internal", `chunks of ${job.job} have no items`);
  const named = `"${from.output}" of job "${from.job}"`;
  const [made] = await latestResults(db, job.graphId, [from.job]);
  const result = made?.result ? fromBinary(ActionResultSchema, made.result) : undefined;
  const [entry] = (result && (await outputOf(store, result, from.output))) ?? [];
  if (entry?.kind !== "file")
    throw new Fault("failed_precondition", `${named}, the list of items, was not made`);
  if (entry.digest.sizeBytes > mostListBytes)
    throw new Fault("failed_precondition", `${named} has more than 16 MiB: too many items`);
  const bytes = await store.get(entry.digest);
  if (bytes === undefined) throw new Fault("unavailable", `${named} is not in the store`);
  return readItems(new TextDecoder().decode(bytes), named);
}
