import type { Principal } from "#access/principal.ts";
import { mayDo } from "#access/require-grant.ts";
import type { JobDetail } from "#api/graph.ts";
import type { JobPage } from "#api/job-page.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import type { Db } from "#db/db.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { neighbourStates } from "#graphs/graph-page.store.ts";
import { graphFailures } from "./graph-failures.ts";

type Services = { readonly db: Db; readonly blobsOf: (project: string) => BlobStore };

/** Returns what the page of a job opens with. The failure has the end of the log if the caller may read logs. */
export async function jobPage(
  services: Services,
  detail: JobDetail,
  caller: Principal,
): Promise<JobPage> {
  const { graph, job } = detail;
  const id = GraphId.parse(graph.id);
  const neighbours = await neighbourStates(services.db, id, job.name);
  if (job.state !== "failed") return { detail, neighbours, failure: null };
  const mayReadLogs = mayDo(caller, "read-logs", graph);
  const failures = await graphFailures(services, id, mayReadLogs, job.name);
  return { detail, neighbours, failure: failures?.failures[0] ?? null };
}
