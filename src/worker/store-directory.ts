import { join } from "node:path";
import { jobOwner } from "#machine/job-owner.ts";

/** Where a worker's store lies. Files of another owner are of no use: jobs could not change modes, nor add to directories. */
export function storeDirectoryIn(dataDir: string): string {
  return jobOwner === undefined ? dataDir : join(dataDir, `of-user-${jobOwner.uid}`);
}
