import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { BenchmarkStatus, PushedSuite, SuiteDetail, Suites } from "#api/benchmark-history.ts";
import type {
  Artifacts,
  RequestDetail,
  RequestKind,
  RequestState,
  Requests,
  SubmitBenchmarkRequest,
  SubmittedRequest,
} from "#api/benchmark-request.ts";
import type { Digest } from "#core/digest.ts";

export interface ArtifactQuery {
  readonly suite: string;
  readonly kind: RequestKind | undefined;
  /** The tag of the last one that the client has. */
  readonly before: string | undefined;
  readonly limit: number;
}

export interface BenchmarkRequestQuery {
  readonly suite: string | undefined;
  readonly state: RequestState | undefined;
  readonly before: string | undefined;
  readonly limit: number;
}

/**
 * What is to be measured, and how far that is. Reads answer undefined when there is no such thing. A request is
 * named by its id, a unique beginning of it, or `latest`.
 */
export interface BenchmarkRequestFarm {
  benchmarkSuites(): Promise<Suites>;
  benchmarkSuite(name: string): Promise<SuiteDetail | undefined>;
  pushBenchmarkSuite(name: string, definition: unknown, by: Principal): Promise<PushedSuite>;
  benchmarkArtifacts(query: ArtifactQuery): Promise<Artifacts>;
  benchmarkRequests(query: BenchmarkRequestQuery): Promise<Requests>;
  submitBenchmarkRequest(
    request: z.output<typeof SubmitBenchmarkRequest>,
    by: Principal,
  ): Promise<z.infer<typeof SubmittedRequest>>;
  benchmarkRequest(id: string): Promise<RequestDetail | undefined>;
  cancelBenchmarkRequest(id: string, by: Principal): Promise<RequestDetail | undefined>;
  retryBenchmarkRequest(id: string, by: Principal): Promise<z.infer<typeof SubmittedRequest>>;
  benchmarkArtifactsReady(
    id: string,
    tarballs: Readonly<Record<string, string>>,
    by: Principal,
  ): Promise<RequestDetail | undefined>;
  benchmarkStatus(): Promise<BenchmarkStatus>;
  /** Keeps a tarball of something that is to be tried out. */
  keepBenchmarkTarball(
    digest: Digest,
    bytes: AsyncIterable<Uint8Array>,
    by: Principal,
  ): Promise<void>;
}
