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
 * The connection of a worker to the farm: the calls of `worker.proto`, and the store.
 *
 * Each call is independent and may be repeated. All throw when the farm cannot be reached; only the agent decides how
 * long to retry.
 */
export interface FarmConnection {
  register(request: RegisterRequest): Promise<RegisterResponse>;
  /** Waits on the server's side; `signal` ends the wait. */
  claim(request: ClaimRequest, signal: AbortSignal): Promise<ClaimResponse>;
  /** Returns the executions that this worker will probably get next. Throws `unimplemented` with an older farm. */
  lookAhead(request: LookAheadRequest): Promise<LookAheadResponse>;
  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResponse>;
  /**
   * Waits on the server's side; `signal` ends the wait. Throws `unimplemented` with a farm that does not have this call
   * yet.
   */
  cancellations(request: CancellationsRequest, signal: AbortSignal): Promise<CancellationsResponse>;
  started(request: StartedRequest): Promise<StartedResponse>;
  release(request: ReleaseRequest): Promise<void>;
  finish(request: FinishRequest): Promise<FinishResponse>;
  appendLog(request: AppendLogRequest): Promise<AppendLogResponse>;
  /** The farm's blobs, as they are visible to this project. */
  blobs(project: string): BlobStore;
  close(): Promise<void>;
}
