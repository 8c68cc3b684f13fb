import { join } from "node:path";
import { jobOwner } from "#machine/job-owner.ts";

/**
 * Returns the directory of a worker's store. Files of another owner are useless: jobs could not change modes or add to
 * directories.
 */
export function storeDirectoryIn(dataDir: string): string {
  return jobOwner === undefined ? dataDir : join(dataDir, `of-user-${jobOwner.uid}`);
}
