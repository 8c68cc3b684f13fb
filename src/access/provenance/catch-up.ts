import { fromBinary } from "@bufbuild/protobuf";
import type { Db } from "#db/db.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { addSubjects, lockMark, type Subject, setMark } from "./subject.store.ts";

/** A successful run, executed by a worker of the farm for a protected graph. */
interface FinishedRun {
  readonly graphId: string;
  readonly job: string;
  readonly run: number;
  readonly finishedAt: Date;
  readonly result: Uint8Array;
}

/** Returns at most `most` runs that ended at this time or later, in the order of their ends. */
type FinishedSince = (since: Date, most: number) => Promise<readonly FinishedRun[]>;

const mostAtOnce = 2_000;
/** A transaction commits later than the time that it writes, so readers look back this far. */
const overlapMs = 10 * 60_000;

/**
 * Records the outputs of runs since the last call.
 *
 * Called when provenance is requested, which is rare, so runs do no work for it. It works in batches, so that a first
 * call after a year blocks nothing.
 */
export async function catchUp(db: Db, finishedSince: FinishedSince): Promise<void> {
  let from: Date | undefined;
  for (;;) {
    const next: Date | undefined = await db.transaction(async (tx) => {
      const mark = await lockMark(tx);
      const since: Date =
        from ?? (mark === undefined ? new Date(0) : new Date(mark.getTime() - overlapMs));
      const runs = await finishedSince(since, mostAtOnce);
      const last = runs.at(-1)?.finishedAt;
      if (last === undefined) return undefined;
      await addSubjects(tx, runs.flatMap(subjectsOf));
      if (mark === undefined || last > mark) await setMark(tx, last);
      // More runs may have the time of the last one; when all had the same time, the time is increased.
      if (runs.length < mostAtOnce) return undefined;
      return last > since ? last : new Date(last.getTime() + 1);
    });
    if (next === undefined) return;
    from = next;
  }
}

function subjectsOf({ result, ...run }: FinishedRun): Subject[] {
  const { outputFiles, outputDirectories } = fromBinary(ActionResultSchema, result);
  const digests = [
    ...outputFiles.map(({ digest }) => digest),
    ...outputDirectories.map(({ treeDigest }) => treeDigest),
  ];
  return [...new Set(digests.flatMap((digest) => digest?.hash ?? []))].map((hash) => ({
    hash,
    ...run,
  }));
}
