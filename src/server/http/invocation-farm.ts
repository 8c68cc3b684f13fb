import type { Principal } from "#access/principal.ts";
import type { CancelledInvocation } from "#api/cancel.ts";
import type { ExecutionDetail } from "#api/execution.ts";
import type {
  InvocationActionState,
  InvocationActions,
  InvocationDetail,
  InvocationList,
} from "#api/invocation.ts";
import type { TreeListing } from "#api/tree-listing.ts";
import type { Digest } from "#core/digest.ts";
import type { Ticket } from "../change-feed.ts";
import type { LogPiece } from "./farm.ts";

/** A tool's own id names an invocation within its project. */
export interface InvocationAddress {
  readonly project: string;
  readonly id: string;
}

/** Which of an execution's streams. While it runs, a worker that does not tell them apart sends one. */
export type LogStream = "stdout" | "stderr";

/** What the farm says of build tools: their invocations, what these executed, and blobs. */
export interface InvocationFarm {
  invocations(query: {
    readonly project: string | undefined;
    readonly commit: string | undefined;
    readonly before: string | undefined;
    readonly limit: number;
  }): Promise<InvocationList>;
  invocation(address: InvocationAddress): Promise<InvocationDetail | undefined>;
  invocationActions(
    query: InvocationAddress & {
      readonly state: InvocationActionState | undefined;
      readonly text: string | undefined;
      readonly after: string | undefined;
      readonly limit: number;
    },
  ): Promise<InvocationActions | undefined>;
  /** What the tool printed, as far as its build events told. */
  invocationLog(
    address: InvocationAddress,
    offset: number,
    most: number,
  ): Promise<LogPiece | undefined>;
  invocationLogChanges(): Ticket;
  cancelInvocation(
    address: InvocationAddress,
    by: Principal,
  ): Promise<CancelledInvocation | undefined>;
  execution(id: string): Promise<ExecutionDetail | undefined>;
  executionLog(
    id: string,
    stream: LogStream,
    offset: number,
    most: number,
  ): Promise<LogPiece | undefined>;
  executionLogChanges(id: string): Ticket;
  readBlob(project: string, digest: Digest): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** What is in an output directory, by the digest of its Tree. */
  listTree(project: string, digest: Digest): Promise<TreeListing | undefined>;
}
