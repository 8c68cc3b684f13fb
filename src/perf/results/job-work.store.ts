import { z } from "zod";
import { Doubt } from "#api/collector.ts";
import { Section } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { Suite } from "#suites/suite.ts";

const Work = z.object({
  suite: z.string(),
  artifactId: z.number(),
  definition: Suite,
  purpose: z.enum(["own", "backfill", "paired", "confirm"]),
  section: Section,
  target: z.string(),
  backend: z.string(),
  profile: z.string(),
  set: z.number(),
  benchmarks: z.array(z.string()),
  doubts: z.array(Doubt).nullable(),
});

/** What a job is about; it never changes. */
export async function workOfJob(tx: Tx, id: string): Promise<z.infer<typeof Work> | undefined> {
  const [work] = await tx.many(
    Work,
    sql`
      select version.suite, job.artifact_id as "artifactId", version.definition, job.purpose, job.section, job.target, job.backend, job.profile,
             job.benchmark_set as "set", job.benchmarks, job.doubts
      from benchmark_job as job join benchmark_suite_version as version on version.digest = job.suite_digest
      where job.id = ${id}
    `,
  );
  return work;
}
