import { pathOfCall } from "#api/endpoint.ts";
import type { RunAddress } from "./api/api-client.ts";
import type { LogAddresses } from "./log-lines.ts";

/** Returns the addresses of the log of a run: of its parts, its index and searches in it. */
export async function logAddressesOfRun({
  graph,
  job,
  run,
  batch,
}: RunAddress): Promise<LogAddresses> {
  const { jobEndpoints } = await import("#api/endpoints/job-endpoints.ts");
  const params = { graph, job, run: String(run) };
  const query = batch === undefined ? {} : { batch: String(batch) };
  return {
    log: (limit) => pathOfCall(jobEndpoints.runLog, params, { ...query, limit: String(limit) }),
    index: pathOfCall(jobEndpoints.runLogIndex, params, query),
    search: (search) => pathOfCall(jobEndpoints.runLogSearch, params, { ...query, ...search }),
  };
}

/** Returns the addresses of what an execution wrote to a stream. */
export async function logAddressesOfExecution(
  execution: string,
  stream: "stdout" | "stderr",
): Promise<LogAddresses> {
  const { executionEndpoints } = await import("#api/endpoints/execution-endpoints.ts");
  const params = { execution };
  return {
    log: (limit) =>
      pathOfCall(executionEndpoints.executionLog, params, { stream, limit: String(limit) }),
    index: pathOfCall(executionEndpoints.executionLogIndex, params, { stream }),
    search: (search) =>
      pathOfCall(executionEndpoints.executionLogSearch, params, { stream, ...search }),
  };
}
