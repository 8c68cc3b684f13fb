import { createHash } from "node:crypto";
import { z } from "zod";
import { BenchmarkStatus } from "#api/benchmark-history.ts";
import {
  Artifacts,
  RequestDetail,
  Requests,
  type SubmitBenchmarkRequest,
  SubmittedRequest,
} from "#api/benchmark-request.ts";
import type { ApiClient } from "./api-client.ts";

/** What is to be measured, and how far that is. */
export function benchmarkCalls(api: Pick<ApiClient, "get" | "post" | "upload">) {
  const path = (id: string) => `/benchmarks/requests/${encodeURIComponent(id)}`;
  return {
    submit: (request: SubmitBenchmarkRequest) =>
      api.post(SubmittedRequest, "/benchmarks/requests", request),
    requests: (query: { suite?: string; state?: string; limit: number }) =>
      api.get(Requests, `/benchmarks/requests?${queryText(query)}`),
    request: (id: string) => api.get(RequestDetail, path(id)),
    cancel: (id: string) => api.post(RequestDetail, `${path(id)}/cancel`, {}),
    retry: (id: string) => api.post(SubmittedRequest, `${path(id)}/retry`, {}),
    artifactsReady: (id: string, tarballs: Readonly<Record<string, string>>) =>
      api.post(RequestDetail, `${path(id)}/artifacts-ready`, { tarballs }),
    artifacts: (query: { suite: string; kind?: string; before?: string; limit: number }) =>
      api.get(Artifacts, `/benchmarks/artifacts?${queryText(query)}`),
    status: () => api.get(BenchmarkStatus, "/benchmarks/status"),
    /** Keeps a tarball on the farm; answers its name there. */
    keepTarball: async (bytes: Uint8Array<ArrayBuffer>) => {
      const name = `${createHash("sha256").update(bytes).digest("hex")}/${bytes.length}`;
      const kept = z.object({ digest: z.string() });
      return (await api.upload(kept, `/benchmarks/tarballs/${name}`, bytes)).digest;
    },
  };
}

function queryText(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return new URLSearchParams(given).toString();
}
