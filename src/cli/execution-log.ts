import { pathOfCall } from "#api/endpoint.ts";
import { executionEndpoints } from "#api/endpoints/execution-endpoints.ts";
import type { ApiClient } from "./api/api-client.ts";

/** Yields the output of an execution so far, in pieces. */
export async function* executionLog(
  api: Pick<ApiClient, "logAt">,
  execution: string,
  stream: "stdout" | "stderr",
): AsyncGenerator<Uint8Array> {
  const address = pathOfCall(executionEndpoints.executionLog, { execution }, { stream });
  for (let offset = 0; ; ) {
    const { bytes, nextOffset } = await api.logAt(address, offset);
    if (bytes.length === 0) return;
    yield bytes;
    offset = nextOffset;
  }
}
