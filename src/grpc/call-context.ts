import type { Fault } from "#core/fault.ts";
import { type Metadata, noMetadata } from "./metadata.ts";

/** The facts about a call that a handler has besides the messages. */
export interface CallContext {
  /** Service and method: `/google.bytestream.ByteStream/Read`. */
  readonly path: string;
  readonly metadata: Metadata;
  /** The client's deadline; undefined without one. */
  readonly deadline: Date | undefined;
  /** `address:port` of the other side. */
  readonly peer: string;
  /** Whether the connection cannot be intercepted, because it uses TLS or stays on this machine. */
  readonly isPrivate: boolean;
  /** The name in the client's certificate, when one of our authorities issued it. */
  readonly certificateOf?: string | undefined;
  /** Aborted, with a Fault as its reason, when the client cancels or the deadline is over. */
  readonly signal: AbortSignal;
  /** Sent before the first response; set later, it is ignored. */
  responseMetadata: Metadata;
  /** Sent after the last response, also of a call that fails. */
  trailers: Metadata;
}

/** The part of a call's context that ends it. */
export class ServerCallContext implements CallContext {
  readonly path: string;
  readonly metadata: Metadata;
  readonly deadline: Date | undefined;
  readonly peer: string;
  readonly isPrivate: boolean;
  readonly certificateOf: string | undefined;
  responseMetadata = noMetadata;
  trailers = noMetadata;
  #controller: AbortController | undefined;
  #aborted: Fault | undefined;

  constructor(
    path: string,
    metadata: Metadata,
    deadline: Date | undefined,
    peer: string,
    isPrivate = false,
    certificateOf?: string,
  ) {
    this.path = path;
    this.metadata = metadata;
    this.deadline = deadline;
    this.peer = peer;
    this.certificateOf = certificateOf;
    this.isPrivate = isPrivate;
  }

  /** Created at the first use: most calls end before that, and creating it is expensive. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  abort(fault: Fault): void {
    this.#aborted ??= fault;
    this.#controller?.abort(this.#aborted);
  }
}
