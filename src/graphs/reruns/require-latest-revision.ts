import type { z } from "zod";
import { latestChangeOfJob } from "#access/audit.store.ts";
import type { Customise } from "#api/rerun.ts";
import { canonicalJson } from "#core/canonical-json.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import type { GraphId } from "../graph-id.ts";
import type { CustomisableJob } from "./customise.store.ts";
import { definitionChanges } from "./definition-changes.ts";
import { jsonOf } from "./patched-definition.ts";

/** The highest number of differences in a message; the job's page and `GET /graphs/ID/jobs/NAME` have all. */
const mostListed = 5;

/**
 * Throws `Fault("aborted")` when a change would overwrite one that its author has not seen.
 *
 * A patch replaces the earlier one: when two people change one job at once, the first change would be lost. The same
 * patch again overwrites nothing, so a client whose answer was lost may repeat it. Call it while the graph is locked.
 */
export async function requireLatestRevision(
  tx: Tx,
  graphId: GraphId,
  { job: name, patch, after }: z.output<typeof Customise>,
  job: CustomisableJob,
): Promise<void> {
  if (canonicalJson(patch) === canonicalJson(job.patch)) return;
  // An undo without `after` overwrites the change on purpose.
  const isLatest =
    after === undefined ? patch === null || job.patch === null : after === job.revision;
  if (isLatest) return;
  const latest = await latestChangeOfJob(tx, graphId, name, "customise");
  const who = latest === undefined ? "the submission" : `${latest.actor}, at ${latest.at},`;
  const reason = latest?.reason ?? null;
  const why = reason === null ? "" : ` ("${reason}")`;
  const hint =
    after === undefined
      ? `send "after": ${job.revision} to replace it`
      : `your change is based on revision ${after}; look at it again, and repeat what is still needed`;
  throw new Fault(
    "aborted",
    `${who} has customised ${name}${why}, revision ${job.revision}: ${differences(job)}; ${hint}`,
  );
}

/** Returns the current differences of a job from its template. */
function differences({ template, definition }: CustomisableJob): string {
  const changes = definitionChanges(jsonOf(template), jsonOf(definition));
  if (changes.length === 0) return "it is as its definition says again";
  const listed = changes
    .slice(0, mostListed)
    .map(({ path, is }) => (is === undefined ? `${path} removed` : `${path}: ${shortened(is)}`));
  const more = changes.length - listed.length;
  return listed.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 120 ? text : `${text.slice(0, 117)}...`;
}
