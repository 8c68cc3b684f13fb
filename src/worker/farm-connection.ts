import type { BlobStore } from "#cas/blob-store.ts";
import type {
  AppendLogRequest,
  AppendLogResponse,
  CancellationsRequest,
  CancellationsResponse,
  ClaimRequest,
  ClaimResponse,
  FinishRequest,
  FinishResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  LookAheadRequest,
  LookAheadResponse,
  RegisterRequest,
  RegisterResponse,
  ReleaseRequest,
  StartedRequest,
  StartedResponse,
} from "#proto/grange/worker/v1/worker_pb.ts";

/**
 * The farm as a worker sees it: the calls of `worker.proto`, and the store.
 *
 * Each call stands alone and may be repeated. All throw when the farm cannot be
 * reached; nobody but the agent decides how long that is borne.
 */
export interface FarmConnection {
  register(request: RegisterRequest): Promise<RegisterResponse>;
  /** Waits on the server's side; `signal` ends the wait. */
  claim(request: ClaimRequest, signal: AbortSignal): Promise<ClaimResponse>;
  /** What this worker is likely to be given next. Throws `unimplemented` where the farm is older than that. */
  lookAhead(request: LookAheadRequest): Promise<LookAheadResponse>;
  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResponse>;
  /** Waits on the server's side; `signal` ends the wait. Throws `unimplemented` where the farm is older than that. */
  cancellations(request: CancellationsRequest, signal: AbortSignal): Promise<CancellationsResponse>;
  started(request: StartedRequest): Promise<StartedResponse>;
  release(request: ReleaseRequest): Promise<void>;
  finish(request: FinishRequest): Promise<FinishResponse>;
  appendLog(request: AppendLogRequest): Promise<AppendLogResponse>;
  /** The farm's blobs, as this project sees them. */
  blobs(project: string): BlobStore;
  close(): Promise<void>;
}
