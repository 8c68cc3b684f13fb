import { caseKey } from "#core/test-case.ts";
import type { Tx } from "#db/db.ts";
import { workOfJob } from "../results/job-work.store.ts";
import { casesTold } from "../results/stored-cases.store.ts";
import { jobCases } from "./job-cases.ts";

/** Cases of a job that have neither figures nor an error: keys. */
export async function untoldCases(tx: Tx, jobId: string): Promise<string[]> {
  const work = await workOfJob(tx, jobId);
  if (work === undefined) return [];
  const keys = jobCases(work.definition, work).map(caseKey);
  const told = await casesTold(tx, jobId, work);
  return keys.filter((key) => !told.has(key));
}
