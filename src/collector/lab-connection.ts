import type {
  ClaimAnswer,
  ClaimBenchmarkJob,
  CollectorHello,
  CollectorWelcome,
  EndBenchmarkJob,
  EndedBenchmarkJob,
  JobHeartbeat,
  JobHeartbeatAnswer,
  ReportedSelfTest,
  ReportSelfTest,
  ReportTest,
} from "#api/collector.ts";

/**
 * The connection of one collector to the server. Each call is independent and may be repeated.
 *
 * The calls throw a `Fault`: `aborted` and `not_found` mean that the job, or the collector's name, now belongs to
 * another process. See `standing.ts`.
 */
export interface LabConnection {
  hello(hello: CollectorHello, signal: AbortSignal): Promise<CollectorWelcome>;
  claim(claim: ClaimBenchmarkJob, signal: AbortSignal): Promise<ClaimAnswer>;
  heartbeat(jobId: string, body: JobHeartbeat, signal: AbortSignal): Promise<JobHeartbeatAnswer>;
  report(jobId: string, body: ReportTest, signal: AbortSignal): Promise<void>;
  end(jobId: string, body: EndBenchmarkJob, signal: AbortSignal): Promise<EndedBenchmarkJob>;
  selfTest(body: ReportSelfTest, signal: AbortSignal): Promise<ReportedSelfTest>;
  /** Fetches a blob from the farm's store, by `HASH/SIZE`. */
  fetchBlob(digest: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
}
