import { fromBinary } from "@bufbuild/protobuf";
import { outputOf } from "#actions/output-of.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { Db } from "#db/db.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { InProject } from "../project-of-jobs.ts";
import { durationsOf } from "./estimate-items.ts";
import { type BatchToMeasure, keepDurations, takeBatchesToMeasure } from "./gather.store.ts";

const mostPerTurn = 32;
const mostBytes = 16 * 1024 * 1024;

/** Stores the durations of the items of ended batches, for later estimates. Returns how many batches there were. */
export async function measureBatches({
  db,
  inProject,
}: {
  readonly db: Db;
  readonly inProject: InProject;
}): Promise<number> {
  const taken = await takeBatchesToMeasure(db, mostPerTurn);
  for (const batch of taken) {
    const { store } = inProject(batch.project);
    const durations = durationsOf(batch.items, batch.ms, await statedBy(store, batch));
    await db.transaction((tx) => keepDurations(tx, batch, durations));
  }
  return taken.length;
}

/** Reads the durations that the job reports. They may be invalid or missing. */
async function statedBy(
  store: BlobStore,
  { result, resultsPath }: BatchToMeasure,
): Promise<Record<string, unknown>> {
  if (result === null || resultsPath === null) return {};
  try {
    const [entry] =
      (await outputOf(store, fromBinary(ActionResultSchema, result), resultsPath)) ?? [];
    if (entry?.kind !== "file" || entry.digest.sizeBytes > mostBytes) return {};
    const stated: unknown = JSON.parse(new TextDecoder().decode(await store.get(entry.digest)));
    return typeof stated === "object" && stated !== null ? { ...stated } : {};
  } catch {
    return {};
  }
}
