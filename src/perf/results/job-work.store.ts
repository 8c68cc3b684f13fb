import { z } from "zod";
import { ChangeToConfirm } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { Suite } from "#suites/suite.ts";
import { StoredSlice, sliceColumns } from "../job-slice.store.ts";

const Work = StoredSlice.extend({
  suite: z.string(),
  artifactId: z.number(),
  definition: Suite,
  doubts: z.array(ChangeToConfirm).nullable(),
});

/** Returns the subject of a job, which never changes. */
export async function workOfJob(tx: Tx, id: string): Promise<z.infer<typeof Work> | undefined> {
  const [work] = await tx.many(
    Work,
    sql`
      select version.suite, job.artifact_id as "artifactId", version.definition, ${sliceColumns},
             job.doubts
      from benchmark_job as job join benchmark_suite_version as version on version.digest = job.suite_digest
      where job.id = ${id}
    `,
  );
  return work;
}
