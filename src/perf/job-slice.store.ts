import { z } from "zod";
import { JobPurpose } from "#api/benchmark-request.ts";
import { Section } from "#core/test-case.ts";
import { sql } from "#db/sql.ts";

/** The subject of a stored job, and its purpose. */
export const StoredSlice = z.object({
  purpose: JobPurpose,
  section: Section,
  target: z.string(),
  backend: z.string(),
  profile: z.string(),
  set: z.number(),
  benchmarks: z.array(z.string()),
  runs: z.number().nullable(),
});

export const sliceColumns = sql`
  job.purpose, job.section, job.target, job.backend, job.profile, job.benchmark_set as "set", job.benchmarks,
  job.runs
`;
